// Vectors, quaternions (real part first) and 4 x 4 matrices by columns.
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const length = a => Math.sqrt(dot(a, a));
const unit = a => scaled(a, 1 / (length(a) || 1));

function turned([w, x, y, z], v) {
  const t = scaled(cross([x, y, z], v), 2);
  return add(add(v, t, w), cross([x, y, z], t));
}

// The shortest turn of the x axis into a direction.
function turnOfX(d) {
  const q = [1 + d[0], 0, -d[2], d[1]];
  const size = Math.hypot(...q);
  return size < 1e-9 ? [0, 0, 0, 1] : q.map(e => e / size);
}

function lookFrom(eye, right, up, back) {
  return [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
}

function perspective(field, aspect, near, far) {
  const f = 1 / Math.tan(field / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1,
    0, 0, 2 * far * near / (near - far), 0];
}

function product(a, b) {
  const out = new Array(16).fill(0);
  for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) for (let k = 0; k < 4; k++)
    out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}

// Three digits that mean something.
function told(x) {
  if (!isFinite(x)) return String(x);
  if (Math.abs(x) < 1e-12) return "0";
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-3 ? Number(x.toPrecision(3)).toExponential() : String(Number(x.toPrecision(3)));
}
