// What is shown of the data of a scene, at one time: everything is computed from one pair of frames.
const LAYERS = {body: "bodies", joint: "joints", clamp: "joints", motor: "joints", closure: "joints",
  disc: "discs", contact: "joints"};
const HIDDEN = ["frames", "names"];
const THIN = 2.6;  // pixels: rods and chambers are drawn no thinner
const CREASE = Math.cos(0.7);

// Triangles with a normal for each corner, smooth except at edges.
function creased(vertices, faces) {
  const positions = new Float32Array(3 * faces.length), normals = new Float32Array(3 * faces.length);
  const at = i => [vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]];
  const own = [], around = new Map();
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [at(faces[f]), at(faces[f + 1]), at(faces[f + 2])];
    const normal = cross(add(b, a, -1), add(c, a, -1));
    own.push({normal, flat: unit(normal)});
    for (let k = f; k < f + 3; k++) {
      if (!around.has(faces[k])) around.set(faces[k], []);
      around.get(faces[k]).push(own.length - 1);
    }
  }
  faces.forEach((vertex, k) => {
    const face = own[Math.floor(k / 3)];
    let normal = [0, 0, 0];
    for (const other of around.get(vertex)) if (dot(own[other].flat, face.flat) > CREASE) normal = add(normal, own[other].normal);
    positions.set(at(vertex), 3 * k); normals.set(unit(normal), 3 * k);
  });
  return [positions, normals, new Float32Array(faces.length), Uint32Array.from(faces.keys())];
}

// A bar of length and radius 1 along x from the origin, or a cone.
function spike(tip) {
  const vertices = [0, 0, 0, 1, 0, 0], faces = [], sides = 20;
  for (let k = 0; k < sides; k++) {
    const a = 2 * Math.PI * k / sides;
    vertices.push(0, Math.cos(a), Math.sin(a), 1, tip * Math.cos(a), tip * Math.sin(a));
  }
  for (let k = 0; k < sides; k++) {
    const a = 2 + 2 * k, b = 2 + 2 * ((k + 1) % sides);
    faces.push(0, b, a, a, b, a + 1);
    if (tip) faces.push(b, b + 1, a + 1, 1, a + 1, b + 1);
  }
  return creased(vertices, Uint32Array.from(faces));
}

// A rod or a chamber: rings of points, and a lid at either end.
class Strand {
  constructor(painter, data) {
    this.data = data;
    const [n, k] = data.outline.shape;
    this.n = n; this.k = k;
    const rings = n + 2, faces = [];
    for (let r = 0; r < n - 1; r++) for (let j = 0; j < k; j++) {
      const a = r * k + j, b = r * k + (j + 1) % k;
      faces.push(a, b, a + k, b, b + k, a + k);
    }
    for (let j = 1; j < k - 1; j++) {
      faces.push(n * k, n * k + j + 1, n * k + j, (n + 1) * k, (n + 1) * k + j, (n + 1) * k + j + 1);
    }
    this.positions = new Float32Array(3 * rings * k); this.normals = new Float32Array(3 * rings * k);
    this.shares = new Float32Array(rings * k);
    this.mesh = painter.mesh(this.positions, this.normals, this.shares, Uint32Array.from(faces));
    const outline = data.outline.values;
    this.middle = new Float32Array(2 * n);
    for (let r = 0; r < n; r++) for (let j = 0; j < k; j++) for (const e of [0, 1]) this.middle[2 * r + e] += outline[2 * (r * k + j) + e] / k;
  }

  // How many times as thick as it is it has to be drawn to be seen.
  times(camera) { return Math.max(1, THIN / 2 * camera.pixel() / this.data.reach); }

  show(painter, when, scale, quantity, camera) {
    const {n, k, positions, normals, shares, middle} = this, outline = this.data.outline.values;
    const centers = this.centers = mixed(this.data.position, when), turns = this.turns = mixedTurn(this.data.turn, when);
    const values = quantity ? mixed(this.data.values[quantity], when) : null, times = this.factor = this.times(camera);
    for (let ring = 0; ring < n + 2; ring++) {
      const r = ring < n ? ring : ring === n ? 0 : n - 1;
      const turn = turns.subarray(4 * r, 4 * r + 4);
      const x = turned(turn, [1, 0, 0]), y = turned(turn, [0, 1, 0]), z = turned(turn, [0, 0, 1]);
      let share = this.data.kind === "rod" ? r / (n - 1) : 0;
      if (values && !painter.picking) { share = values[r] / (scale.largest || 1); if (scale.signed) share = (share + 1) / 2; }
      for (let j = 0; j < k; j++) {
        const i = 2 * (r * k + j), v = ring * k + j;
        const oy = middle[2 * r] + times * (outline[i] - middle[2 * r]), oz = middle[2 * r + 1] + times * (outline[i + 1] - middle[2 * r + 1]);
        let normal;
        if (ring < n) {
          const before = 2 * (r * k + (j + k - 1) % k), after = 2 * (r * k + (j + 1) % k);
          const ny = outline[after + 1] - outline[before + 1], nz = outline[before] - outline[after];
          normal = unit(add(scaled(y, ny), z, nz));
        } else normal = scaled(x, ring === n ? -1 : 1);
        for (const e of [0, 1, 2]) {
          positions[3 * v + e] = centers[3 * r + e] + oy * y[e] + oz * z[e];
          normals[3 * v + e] = normal[e];
        }
        shares[v] = share;
      }
    }
    painter.refill(this.mesh, positions, normals, shares);
  }

  point(share) {
    const r = Math.round(share * (this.n - 1));
    return [...this.centers.subarray(3 * r, 3 * r + 3)];
  }
}

class Scene {
  constructor(painter, data) {
    this.painter = painter; this.data = data; this.t = data.t; this.time = 0;
    this.color = data.color;
    for (const [name, scale] of Object.entries(data.scales)) painter.table(name, scale.colors);
    this.rods = data.rods.map(rod => new Strand(painter, rod));
    this.chambers = data.chambers.map(chamber => new Strand(painter, chamber));
    this.solids = data.solids.map(own => ({data: own, layer: LAYERS[own.kind], mesh: painter.mesh(...creased(own.vertices.values, own.faces.values))}));
    this.lines = data.lines.map(own => ({data: own, line: painter.line(own.points.shape[1])}));
    this.bar = painter.mesh(...spike(1)); this.cone = painter.mesh(...spike(0));
    this.grid = this.makeGrid();
    this.visible = {};
    const there = {ground: true, rods: this.rods.length, bodies: this.solids.some(s => s.layer === "bodies"),
      joints: this.solids.some(s => s.layer === "joints"), discs: this.solids.some(s => s.layer === "discs"),
      tendons: this.lines.length, chambers: this.chambers.length, forces: data.arrows.length,
      frames: true, names: true};
    for (const [layer, some] of Object.entries(there)) if (some) this.visible[layer] = !HIDDEN.includes(layer);
    this.clear = this.chambers.length > 0;  // chambers are inside their rods
    // What can be picked, by its number.
    this.items = [...this.rods, ...this.chambers].map(s => ({name: s.data.name, strand: s}))
      .concat(this.solids.map(s => ({name: s.data.name, solid: s})), this.lines.map(l => ({name: l.data.name, line: l})));
    this.grow();
  }

  // Take other numbers of the same robot; scales only grow.
  update(moving) {
    for (const [name, own] of Object.entries(moving)) {
      if (["rods", "chambers", "solids", "lines", "arrows"].includes(name)) own.forEach((one, i) => Object.assign(this.data[name][i], one));
      else this.data[name] = own;
    }
    this.t = this.data.t;
    this.grow();
  }

  grow() {
    const {data} = this, largest = (name, array) => {
      const scale = data.scales[name];
      for (const v of array.values) scale.largest = Math.max(scale.largest, Math.abs(v));
    };
    for (const strand of [...data.rods, ...data.chambers]) for (const [name, own] of Object.entries(strand.values)) if (data.scales[name]) largest(name, own);
    for (const line of data.lines) largest("tension", line.tension);
    this.strongest = this.strongest || {force: 1e-300, moment: 1e-300};
    for (const arrow of data.arrows) {
      const kind = arrow.kind === "moment" ? "moment" : "force", v = arrow.vector.values;
      for (let i = 0; i < v.length; i += 3) this.strongest[kind] = Math.max(this.strongest[kind], Math.hypot(v[i], v[i + 1], v[i + 2]));
    }
  }

  get when() { return whenIs(this.t, this.time); }

  makeGrid() {
    const {cell, span, middle, floor} = this.data, count = Math.ceil(1.1 * span / cell), points = [];
    const center = middle.map(x => Math.round(x / cell) * cell), reach = count * cell;
    for (let k = -count; k <= count; k++) {
      const s = k * cell;
      points.push([center[0] + s, center[1] - reach, floor], [center[0] + s, center[1] + reach, floor],
        [center[0] - reach, center[1] + s, floor], [center[0] + reach, center[1] + s, floor]);
    }
    const line = this.painter.line(points.length, true);
    this.painter.refill(line, Float32Array.from(points.flat()));
    return line;
  }

  // All points of the present shape, to be fitted.
  get cloud() {
    const {values} = this.data.cloud, points = [];
    for (let i = 0; i < values.length; i += 3) points.push([...values.subarray(i, i + 3)]);
    return points;
  }
  get present() {
    const points = this.data.arrows.map(a => add([...mixed(a.start, this.when)], this.way(a)));
    for (const rod of this.rods) for (let i = 0; i < rod.positions.length; i += 9) points.push([...rod.positions.subarray(i, i + 3)]);
    return points.concat(this.solids.flatMap(s => {
      const at = mixed(s.data.position, this.when), turn = mixedTurn(s.data.turn, this.when), v = s.data.vertices.values, found = [];
      for (let i = 0; i < v.length; i += 3 * Math.ceil(v.length / 300)) found.push(add(turned(turn, v.subarray(i, i + 3)), at));
      return found;
    })).filter(point => isFinite(point[0]));
  }
  frame(name) {
    const k = this.data.frames.indexOf(name), all = mixed(this.data.framePosition, this.when);
    return k < 0 ? null : [...all.subarray(3 * k, 3 * k + 3)];
  }

  draw(camera, picking = false) {
    const {painter, data, visible, when} = this;
    painter.picking = picking;
    for (const rod of this.rods) rod.show(painter, when, data.scales[this.color], this.color === "plain" ? null : this.color, camera);
    for (const chamber of this.chambers) chamber.show(painter, when, data.scales.pressure, "pressure", camera);
    if (painter.lost) return;
    painter.begin(camera, picking);
    if (picking) { this.things({}, camera); return; }
    if (visible.ground) {
      if (camera.back[2] > 0) this.things({shadow: data.floor}, camera);
      painter.stroke(this.grid, {color: [210, 215, 223], width: 1, nearer: 2e-5});
      const size = 0.07 * data.span;
      this.axes([0, 0, 0], [1, 0, 0, 0], size);
      if (length(data.gravity)) this.arrow([0, 0, 0], scaled(unit(data.gravity), 1.2 * size), [140, 146, 158], 0.03 * size);
    }
    this.things({}, camera);
    if (visible.forces) this.forces(camera);
    if (visible.frames) {
      const at = mixed(data.framePosition, when), turns = mixedTurn(data.frameTurn, when);
      data.frames.forEach((_, k) => isFinite(at[3 * k]) && this.axes(at.subarray(3 * k, 3 * k + 3), turns.subarray(4 * k, 4 * k + 4), 0.06 * data.span));
    }
  }

  // Rods, bodies and tendons; with a shadow, what they darken on the ground.
  things({shadow = null}, camera) {
    const {painter, data, visible, when} = this, dark = shadow === null ? {} : {shadow, color: [222, 226, 232]};
    let index = this.rods.length + this.chambers.length;
    for (const {data: own, layer, mesh} of this.solids) {
      const options = {color: data.kinds[own.kind], place: mixed(own.position, when), turn: mixedTurn(own.turn, when), index: index++, ...dark};
      if (visible[layer] && isFinite(options.place[0])) painter.draw(mesh, options);
    }
    const clear = this.clear && shadow === null && !painter.picking;
    const rods = () => this.rods.forEach((rod, i) => {
      if (!isFinite(rod.centers[0])) return;  // it does not exist now
      const plain = this.color === "plain" || shadow !== null;
      painter.draw(rod.mesh, {color: data.plain, table: plain ? null : this.color, sharp: rod.data.sharp, opacity: clear ? 0.45 : 1, index: i, ...dark});
    });
    if (visible.rods && clear) rods();  // before what is inside, which then has its very color
    if (shadow === null && visible.tendons) {
      for (const {data: own, line} of this.lines) {
        const points = mixed(own.points, when);
        if (!isFinite(points[0])) { index++; continue; }
        painter.refill(line, points);
        const {color, width} = this.tendonLook(mixed(own.tension, when)[0]);
        painter.stroke(line, {color, width, nearer: 4e-4, through: 0.3, index: index++});
      }
    }
    if (visible.chambers) this.chambers.forEach((chamber, i) => isFinite(chamber.centers[0]) && painter.draw(chamber.mesh, {...dark, table: shadow === null ? "pressure" : null, index: this.rods.length + i}));
    if (visible.rods && !clear) rods();
  }

  tendonLook(tension) {
    const share = tension / (this.data.scales.tension.largest || 1);
    if (share < 1e-3) return {color: this.data.slack, width: 1.4};
    const held = Math.min(share, 1);
    return {color: this.data.scales.tension.colors[Math.round(255 * held)], width: 1.8 + 2.4 * held};
  }

  arrow(start, way, color, thick) {
    const size = length(way), head = Math.min(0.45 * size, 6 * thick), turn = turnOfX(unit(way));
    const options = {color, turn};
    this.painter.draw(this.bar, {...options, place: start, scale: [size - head, thick, thick]});
    this.painter.draw(this.cone, {...options, place: add(start, way, 1 - head / size), scale: [head, 2.6 * thick, 2.6 * thick]});
  }

  axes(at, turn, size) {
    [[205, 60, 60], [60, 150, 70], [60, 95, 205]].forEach((color, k) =>
      this.arrow(at, scaled(turned(turn, [0, 1, 2].map(e => e === k ? 1 : 0)), size), color, 0.03 * size));
  }

  // An arrow as it is drawn: the largest of its kind has the full length.
  way(own) {
    const strongest = this.strongest[own.kind === "moment" ? "moment" : "force"];
    return scaled([...mixed(own.vector, this.when)], this.data.longest * this.data.span / strongest);
  }

  forces(camera) {
    const {data, when} = this, thick = Math.max(0.004 * data.span, 1.4 * camera.pixel());
    for (const own of data.arrows) {
      const way = this.way(own);
      if (length(way) > 2e-3 * data.span) this.arrow([...mixed(own.start, when)], way, data.arrowKinds[own.kind], thick);
    }
  }
}
