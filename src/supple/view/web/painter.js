// Surfaces and lines with WebGL. Surfaces that face the camera have exactly their color; those that turn
// away are darker.
const SURFACE = [`#version 300 es
uniform mat4 matrix; uniform vec4 turn; uniform vec3 place, scale; uniform float flatten, ground;
layout(location=0) in vec3 position; layout(location=1) in vec3 normal; layout(location=2) in float share;
out vec3 at, facing; out float value;
vec3 turned(vec3 v) { vec3 t = 2.0 * cross(turn.yzw, v); return v + turn.x * t + cross(turn.yzw, t); }
void main() {
  at = place + turned(position * scale);
  if (flatten > 0.5) at.z = ground;
  facing = turned(normal / scale); value = share;
  gl_Position = matrix * vec4(at, 1.0);
}`, `#version 300 es
precision highp float;
uniform vec3 eye, color; uniform float tabled, sharp, opacity, even; uniform vec4 id; uniform sampler2D table;
in vec3 at, facing; in float value; out vec4 result;
void main() {
  if (id.a > 0.5) { result = vec4(id.xy, clamp(value, 0.0, 1.0), 1.0); return; }
  vec3 base = tabled > 0.5 ? texture(table, vec2((clamp(value, 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb : color;
  vec3 n = normalize(sharp > 0.5 ? cross(dFdx(at), dFdy(at)) : facing);
  float light = even > 0.5 ? 1.0 : 0.5 + 0.5 * pow(abs(dot(n, normalize(eye - at))), 0.7);
  result = vec4(base * light * opacity, opacity);
}`];
const RIBBON = [`#version 300 es
uniform mat4 matrix; uniform vec2 size; uniform float width, nearer;
layout(location=0) in vec3 a; layout(location=1) in vec3 b;
void main() {
  vec4 p = matrix * vec4(a, 1.0), q = matrix * vec4(b, 1.0);
  bool end = gl_VertexID > 1;
  vec2 way = (q.xy / q.w - p.xy / p.w) * size;
  way = length(way) > 1e-6 ? normalize(way) : vec2(1.0, 0.0);
  vec2 aside = vec2(-way.y, way.x) * (gl_VertexID % 2 == 0 ? 1.0 : -1.0) + way * (end ? 0.5 : -0.5);
  gl_Position = end ? q : p;
  gl_Position.xy += aside * (0.5 * width) / size * gl_Position.w;
  gl_Position.z -= nearer * gl_Position.w;
}`, `#version 300 es
precision highp float;
uniform vec4 color, id; out vec4 result;
void main() { result = id.a > 0.5 ? vec4(id.xy, 0.0, 1.0) : vec4(color.rgb * color.a, color.a); }`];

class Painter {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", {antialias: true, alpha: true, premultipliedAlpha: true, preserveDrawingBuffer: true});
    if (!gl) {
      document.getElementById("waiting").textContent = "This browser has no WebGL 2: another one, or hardware acceleration in its settings, shows the robot.";
      throw new Error("no WebGL 2");
    }
    this.gl = gl; this.canvas = canvas;
    this.start();
  }

  // What the graphics card holds; it may lose all of it (a sleeping laptop, a notebook with many players).
  start() {
    this.surface = this.program(SURFACE); this.ribbon = this.program(RIBBON);
    this.tables = {}; this.picking = null; this.hidden = null;
  }
  get lost() { return this.gl.isContextLost(); }

  program(sources) {
    const gl = this.gl, program = gl.createProgram();
    sources.forEach((source, i) => {
      const shader = gl.createShader(i ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER);
      gl.shaderSource(shader, source); gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !this.lost) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    });
    gl.linkProgram(program);
    const places = {}, count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const {name, type} = gl.getActiveUniform(program, i);
      places[name] = [gl.getUniformLocation(program, name), type];
    }
    return {program, places};
  }

  set(program, values) {
    const gl = this.gl;
    for (const [name, value] of Object.entries(values)) {
      const [place, type] = program.places[name];
      if (type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(place, false, value);
      else if (type === gl.FLOAT) gl.uniform1f(place, value);
      else if (type === gl.FLOAT_VEC2) gl.uniform2fv(place, value);
      else if (type === gl.FLOAT_VEC3) gl.uniform3fv(place, value);
      else if (type === gl.FLOAT_VEC4) gl.uniform4fv(place, value);
      else gl.uniform1i(place, value);
    }
  }

  // A surface: positions and normals of vertices, a share for each, and triangles.
  mesh(positions, normals, shares, faces) {
    const gl = this.gl, array = gl.createVertexArray(), buffers = [];
    gl.bindVertexArray(array);
    [[positions, 3], [normals, 3], [shares, 1]].forEach(([values, width], i) => {
      buffers.push(gl.createBuffer());
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers[i]);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(i); gl.vertexAttribPointer(i, width, gl.FLOAT, false, 0, 0);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return {array, buffers, count: faces.length};
  }

  refill(mesh, ...parts) {
    const gl = this.gl;
    parts.forEach((values, i) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, mesh.buffers[i]); gl.bufferSubData(gl.ARRAY_BUFFER, 0, values);
    });
  }

  // A line through points (n, 3), as a ribbon of so many pixels; or pairs of points as pieces.
  line(count, pieces = false) {
    const gl = this.gl, array = gl.createVertexArray(), buffer = gl.createBuffer(), step = pieces ? 24 : 12;
    gl.bindVertexArray(array); gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, 12 * count, gl.DYNAMIC_DRAW);
    for (const i of [0, 1]) {
      gl.enableVertexAttribArray(i); gl.vertexAttribPointer(i, 3, gl.FLOAT, false, step, 12 * i);
      gl.vertexAttribDivisor(i, 1);
    }
    gl.bindVertexArray(null);
    return {array, buffers: [buffer], count: pieces ? count / 2 : count - 1};
  }

  table(name, colors) {
    const gl = this.gl, bytes = new Uint8Array(256 * 4);
    colors.forEach((c, i) => bytes.set([...c, 255], 4 * i));
    this.tables[name] = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.tables[name]);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    for (const end of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, end, gl.LINEAR);
    for (const way of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, way, gl.CLAMP_TO_EDGE);
  }

  // Begin a picture; for picking, one whose colors are ids, out of sight.
  begin(camera, picking = false) {
    const gl = this.gl, dpr = window.devicePixelRatio || 1;
    const [wide, high] = camera.size.map(x => Math.max(1, Math.round(x * dpr)));
    if (this.canvas.width !== wide || this.canvas.height !== high) { this.canvas.width = wide; this.canvas.height = high; }
    this.picking = picking; this.dpr = dpr;
    if (picking) this.aside(wide, high);
    gl.bindFramebuffer(gl.FRAMEBUFFER, picking ? this.hidden.buffer : null);
    gl.viewport(0, 0, wide, high);
    gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST); gl.depthFunc(gl.LEQUAL); gl.depthMask(true);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (picking) gl.disable(gl.BLEND); else gl.enable(gl.BLEND);
    gl.useProgram(this.surface.program);
    this.set(this.surface, {matrix: camera.matrix, eye: camera.eye});
    gl.useProgram(this.ribbon.program);
    this.set(this.ribbon, {matrix: camera.matrix, size: [wide / 2, high / 2]});
  }

  aside(wide, high) {
    const gl = this.gl;
    if (this.hidden && this.hidden.wide === wide && this.hidden.high === high) return;
    const buffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
    for (const [format, place] of [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]]) {
      const store = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, store);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, wide, high);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, store);
    }
    this.hidden = {buffer, wide, high};
  }

  // What is at a pixel of the hidden picture, and the share there; the nearest within a few pixels.
  pickedAt(x, y, reach = 5) {
    if (!this.hidden) return null;
    const gl = this.gl, width = 2 * reach + 1, bytes = new Uint8Array(4 * width * width);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.hidden.buffer);
    gl.readPixels(Math.round(x * this.dpr) - reach, this.hidden.high - 1 - Math.round(y * this.dpr) - reach, width, width, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    let best = null, nearest = Infinity;
    for (let i = 0; i < width * width; i++) {
      if (bytes[4 * i + 3] === 0) continue;
      const far = Math.hypot(i % width - reach, Math.floor(i / width) - reach);
      if (far < nearest) { nearest = far; best = {id: bytes[4 * i] + 256 * bytes[4 * i + 1], share: bytes[4 * i + 2] / 255}; }
    }
    return best;
  }

  id(index) { return this.picking ? [(index % 256) / 255, Math.floor(index / 256) / 255, 0, 1] : [0, 0, 0, 0]; }

  draw(mesh, {color = [0, 0, 0], table = null, turn = [1, 0, 0, 0], place = [0, 0, 0], scale = [1, 1, 1],
    sharp = false, opacity = 1, shadow = null, even = false, index = 0}) {
    const gl = this.gl;
    gl.useProgram(this.surface.program);
    if (table) gl.bindTexture(gl.TEXTURE_2D, this.tables[table]);
    this.set(this.surface, {color: color.map(c => c / 255), tabled: table ? 1 : 0, turn, place, scale,
      sharp: sharp ? 1 : 0, opacity, flatten: shadow === null ? 0 : 1, ground: shadow ?? 0,
      even: even || shadow !== null ? 1 : 0, id: this.id(index)});
    const clear = opacity < 1 && !this.picking;
    if (clear) { gl.depthMask(false); gl.enable(gl.CULL_FACE); }
    gl.bindVertexArray(mesh.array);
    gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
    gl.bindVertexArray(null);
    if (clear) { gl.depthMask(true); gl.disable(gl.CULL_FACE); }
  }

  // A ribbon; what is behind something else shines through a little.
  stroke(line, {color, width, opacity = 1, nearer = 0, through = 0, index = 0}) {
    const gl = this.gl;
    gl.useProgram(this.ribbon.program);
    gl.bindVertexArray(line.array);
    const one = (alpha, wide) => {
      this.set(this.ribbon, {color: [...color.map(c => c / 255), alpha], width: wide * this.dpr, nearer, id: this.id(index)});
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, line.count);
    };
    one(opacity, this.picking ? width + 6 : width);
    if (through && !this.picking) {
      gl.depthFunc(gl.GREATER); gl.depthMask(false); one(through, width); gl.depthMask(true); gl.depthFunc(gl.LEQUAL);
    }
    gl.bindVertexArray(null);
  }
}
