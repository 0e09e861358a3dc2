// Arrays of a scene: rows of time, each a run of numbers.
const BYTES = {f4: Float32Array, i2: Int16Array, u4: Uint32Array};

function unpacked(packed) {
  const text = atob(packed.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  let values = new BYTES[packed.kind](bytes.buffer);
  if (packed.kind === "i2") values = Float32Array.from(values, v => v * packed.scale);
  return {values, shape: packed.shape, row: packed.shape.slice(1).reduce((a, b) => a * b, 1)};
}

function unpackAll(data) {
  if (Array.isArray(data)) return data.map(unpackAll);
  if (data === null || typeof data !== "object") return data;
  if (typeof data.data === "string" && BYTES[data.kind]) return unpacked(data);
  return Object.fromEntries(Object.entries(data).map(([name, own]) => [name, unpackAll(own)]));
}

// The numbers between two rows.
function mixed(array, {frame, share}) {
  const {values, row} = array, start = frame * row;
  if (!share) return values.subarray(start, start + row);
  const out = new Float32Array(row);
  for (let i = 0; i < row; i++) out[i] = (1 - share) * values[start + i] + share * values[start + row + i];
  return out;
}

// The same for quaternions, of unit length.
function mixedTurn(array, when) {
  const out = Float32Array.from(mixed(array, when));
  for (let i = 0; i < out.length; i += 4) {
    const size = Math.hypot(out[i], out[i + 1], out[i + 2], out[i + 3]);
    for (let k = i; k < i + 4; k++) out[k] /= size;
  }
  return out;
}

// Where a time is among instants: the frame before it, and the share of the way to the next.
function whenIs(t, time) {
  let low = 0, high = t.length - 1;
  if (time >= t[high]) return {frame: high, share: 0};
  while (high - low > 1) { const half = (low + high) >> 1; if (t[half] <= time) low = half; else high = half; }
  return {frame: low, share: Math.max(0, (time - t[low]) / (t[low + 1] - t[low]))};
}
