// The page: a scene that plays, or one that a server sends as it is computed.
const place = id => document.getElementById(id);
const canvas = place("canvas");
const player = {
  painter: new Painter(canvas), scene: null, camera: null, plots: new Plots(place("plots"), t => player.seek(t)),
  playing: false, speed: 1, loop: true, followed: null, picked: null, pulled: null, live: null, stale: true,

  load(data) {
    const before = this.scene;
    this.scene = new Scene(this.painter, data);
    place("waiting").hidden = true;
    place("title").textContent = document.title = data.name;
    if (!this.camera) this.camera = new Camera(data.view);
    if (before) {
      for (const layer of Object.keys(this.scene.visible)) if (layer in before.visible) this.scene.visible[layer] = before.visible[layer];
      if (data.quantities.includes(before.color) || before.color === "plain") this.scene.color = before.color;
    }
    this.plots.load(data.t, data.plots);
    this.panel ||= new Panel(place("panel"), this);
    this.panel.load();
    this.picked = null;
    this.bar(data.t[data.t.length - 1]);
    this.resize();
    this.fit();
    if (data.live) drive(data.live);
    this.redraw();
  },

  // The graphics card is back, and empty: the same scene again.
  restore() {
    this.painter.start();
    this.thread = this.picked = null;
    if (!this.scene) return;
    const {data, visible, color, clear, time} = this.scene;
    this.scene = Object.assign(new Scene(this.painter, data), {visible, color, clear, time});
    this.panel.load();
    this.redraw();
  },

  bar(duration) {
    const bar = place("bar");
    this.duration = duration;
    bar.hidden = !(duration > 0);
    document.body.classList.toggle("playing", duration > 0);
    if (bar.hidden) return;
    this.button = make("button");
    this.slider = make("input", {type: "range", min: 0, max: duration, step: duration / 2000, value: 0, ariaLabel: "time"});
    this.clock = make("output");
    const speed = make("select", {title: "speed"}, ...["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5"].map(s => make("option", {value: s, textContent: `${s} ×`})));
    speed.value = "1";
    speed.onchange = () => { this.speed = Number(speed.value); };
    const loop = check("loop", true, on => { this.loop = on; });
    bar.replaceChildren(this.button, this.slider, this.clock, speed, loop);
    this.button.onclick = () => this.play(!this.playing);
    this.slider.oninput = () => this.seek(Number(this.slider.value));
    this.play(true);
  },

  play(on) {
    if (on && this.scene.time >= this.duration) this.seek(0);
    this.playing = on;
    this.button.textContent = on ? "⏸" : "▶";
    this.button.title = this.button.ariaLabel = on ? "Pause" : "Play";
  },

  seek(t) {
    if (this.live) return;
    const before = this.followed && this.scene.frame(this.followed);
    this.scene.time = Math.max(0, Math.min(t, this.duration));
    if (before) this.camera.target = add(this.camera.target, add(this.scene.frame(this.followed), before, -1));
    this.redraw();
  },

  // Take the newest instant of a run that is being computed.
  update(moving, time = 0) {
    const before = this.followed && this.scene.frame(this.followed);
    this.scene.update(moving);
    if (before) this.camera.target = add(this.camera.target, add(this.scene.frame(this.followed), before, -1));
    if (this.live) this.plots.append(time, moving.plots);
    this.redraw();
  },

  fit() {
    const {scene, camera} = this;
    camera.yaw = camera.first.yaw; camera.pitch = camera.first.pitch;
    const moves = scene.t.length > 1;
    if (!moves) scene.draw(camera);
    camera.fit(moves ? scene.cloud : scene.present, moves ? camera.fill : 0.7);
    this.redraw();
  },

  follow(name) { this.followed = name; },
  redraw() { this.stale = true; },

  resize() {
    if (!this.camera) return;
    this.camera.size = [canvas.clientWidth || 1, canvas.clientHeight || 1];
    this.redraw();
  },

  at(event) { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; },

  // What is at a pixel; to be pulled, tendons in front of a rod do not count.
  pick(x, y, pulling = false) {
    const {visible} = this.scene, {tendons} = visible;
    if (pulling) visible.tendons = false;
    this.scene.draw(this.camera, true);
    visible.tendons = tendons;
    const found = this.painter.pickedAt(x, y);
    this.redraw();
    return found && {...this.scene.items[found.id], share: found.share};
  },

  labels() {
    const {scene, camera} = this, wanted = [];
    if (scene.visible.names) {
      const near = 1e-3 * scene.data.span, shown = [];
      for (const name of scene.data.frames) {
        const at = scene.frame(name), same = shown.find(s => length(add(s.at, at, -1)) < near);
        if (same) same.name += `, ${name}`; else shown.push({name, at});
      }
      wanted.push(...shown);
    }
    if (this.picked) wanted.push({name: this.picked.name, at: this.pickedPoint(), className: "picked"});
    place("labels").replaceChildren(...wanted.filter(w => w.at).map(({name, at, className = ""}) => {
      const [x, y] = camera.seen(at), label = make("span", {textContent: name, className});
      label.style.left = `${x}px`; label.style.top = `${y}px`;
      return label;
    }));
  },

  pickedPoint() {
    const {strand, solid, line, share} = this.picked, {when} = this.scene;
    if (strand) return strand.point(strand.data.kind === "rod" ? share : 0.5);
    if (solid) return [...mixed(solid.data.position, when)];
    const points = mixed(line.data.points, when), i = 3 * Math.floor(points.length / 6);
    return [...points.subarray(i, i + 3)];
  },

  paint() {
    this.scene.draw(this.camera);
    if (this.pulled && !this.painter.lost) this.string();
    this.labels();
    const time = this.live ? this.live.t : this.scene.time;
    this.plots.show(time);
    this.panel.show(this.picked);
    if (this.slider && !this.live) { this.slider.value = this.scene.time; this.clock.textContent = `${this.scene.time.toFixed(2)} s`; }
    this.shown = {...this.scene.when, time: this.scene.time};
  },

  // The spring between the mouse and what it pulls.
  string() {
    this.thread ||= this.painter.line(2);
    const start = this.scene.frame(this.pulled.item);
    if (!start) return;
    this.painter.refill(this.thread, Float32Array.from([...start, ...this.pulled.target]));
    this.painter.stroke(this.thread, {color: [224, 122, 20], width: 2.5, nearer: 1e-2, through: 0.6});
  },
};

// Mouse and keys: drag turns (or pulls what can be pulled), right-drag moves, wheel comes near, click picks.
let held = null;
canvas.oncontextmenu = event => event.preventDefault();
canvas.onpointerdown = event => {
  if (!player.scene) return;
  const [x, y] = player.at(event);
  canvas.setPointerCapture(event.pointerId);
  held = {x, y, button: event.shiftKey ? 2 : event.button, moved: false};
  if (player.live && held.button === 0) {
    const item = player.pick(x, y, true), start = item && player.scene.frame(item.name);
    if (start && player.live.pulls.includes(item.name)) held.pull = {item: item.name, start, depth: player.camera.seen(start)[2], from: [x, y]};
  }
  canvas.classList.toggle("held", Boolean(held.pull));
};
canvas.onpointermove = event => {
  if (!player.scene) return;
  const [x, y] = player.at(event);
  if (!held) {
    if (player.live && !event.buttons) { const item = player.pick(x, y, true); canvas.classList.toggle("over", Boolean(item && player.live.pulls.includes(item.name))); }
    return;
  }
  const dx = x - held.x, dy = y - held.y;
  if (!held.moved && Math.hypot(dx, dy) < 3) return;
  held.moved = true; held.x = x; held.y = y;
  const {camera} = player;
  if (held.pull) {
    const {item, start, depth, from} = held.pull, pixel = camera.pixel(depth);
    const target = add(add(start, camera.right, (x - from[0]) * pixel), camera.up, -(y - from[1]) * pixel);
    player.pulled = {item, target};
    tell({pull: {item, target}});
  } else if (held.button === 0) camera.turn(dx, dy);
  else camera.move(dx, dy);
  player.redraw();
};
canvas.onpointerup = canvas.onpointercancel = event => {
  if (!held) return;
  if (held.pull && held.moved) { player.pulled = null; tell({pull: null}); }
  if (!held.moved) player.picked = player.pick(held.x, held.y);
  held = null;
  canvas.classList.remove("held");
  player.redraw();
};
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  if (player.scene) { player.camera.zoom(Math.max(-0.3, Math.min(0.3, 0.0012 * event.deltaY))); player.redraw(); }
}, {passive: false});
window.addEventListener("keydown", event => {
  if (event.code === "Space" && player.button && event.target.tagName !== "INPUT") { player.play(!player.playing); event.preventDefault(); }
});
canvas.addEventListener("webglcontextlost", event => event.preventDefault());  // or it does not come back
canvas.addEventListener("webglcontextrestored", () => player.restore());
new ResizeObserver(() => player.resize()).observe(canvas);
place("fold").onclick = () => { place("side").classList.toggle("folded"); place("side").classList.toggle("unfolded"); };

// What a live run says, and how it is driven.
function drive(live) {
  if (player.live) { player.live.pulls = live.pulls; return; }
  player.live = {...live, t: 0, paused: false, sliders: new Map()};
  const own = player.live, says = make("p", {textContent: "compiling …"}), pause = make("button", {textContent: "Pause"});
  const reset = make("button", {textContent: "Reset"});
  pause.onclick = () => { own.paused = !own.paused; pause.textContent = own.paused ? "Go on" : "Pause"; tell({pause: own.paused}); };
  reset.onclick = () => { for (const d of own.drives) own.sliders.get(d.name).put(d.value); tell({reset: true}); };
  own.says = says;
  player.panel.put("Run", make("div", {}, says, pause, " ", reset));
  for (const d of own.drives) own.sliders.set(d.name, slider(d.name, d, value => tell({set: {[d.name]: value}})));
  const drives = make("div", {}, ...own.sliders.values());
  if (!own.drives.length) drives.append(make("p", {textContent: "Nothing drives this robot: it has no tendon, chamber, motor or load."}));
  player.panel.put("Drive", drives);
  if (own.pulls.length) player.panel.put("Pull", make("div", {}, make("p", {textContent: "Drag a body, or a rod by its tip."}),
    slider("spring", {low: own.spring / own.softer, high: own.spring * own.softer, value: own.spring, unit: "N/m", log: true}, value => tell({spring: value}))));
  for (const part of ["Pull", "Drive", "Run"].map(title => player.panel.parts[title])) part?.parentNode.prepend(part);
}

let waiting = null, sending = false;
// Tell the server; while it listens, what is said meanwhile is joined.
async function tell(words) {
  waiting = {...waiting, ...words, set: {...waiting?.set, ...words.set}};
  if (sending) return;
  sending = true;
  while (waiting) {
    const body = JSON.stringify(waiting);
    waiting = null;
    await fetch("do", {method: "POST", headers: {"Content-Type": "application/json"}, body}).catch(() => {});
  }
  sending = false;
}

function listen() {
  const events = new EventSource("events");
  let loading = Promise.resolve();
  events.addEventListener("scene", () => { loading = loading.then(async () => player.load(unpackAll(await (await fetch("scene")).json()))); });
  events.addEventListener("moving", event => {
    const {t, moving} = JSON.parse(event.data);
    loading = loading.then(() => { if (player.scene) { if (player.live) player.live.t = t; player.update(unpackAll(moving), t); } });
  });
  events.addEventListener("says", event => {
    const {text, warn} = JSON.parse(event.data);
    loading = loading.then(() => { if (player.live) { player.live.says.textContent = text; player.live.says.className = warn ? "warn" : ""; } });
  });
}

let last = 0;
function tick(now) {
  const passed = Math.min(0.1, (now - last) / 1000);
  last = now;
  if (player.scene && player.playing && !player.live) {
    let t = player.scene.time + passed * player.speed;
    if (t >= player.duration) { if (player.loop) t = 0; else { t = player.duration; player.play(false); } }
    player.seek(t);
  }
  if (player.scene && player.stale) { player.stale = false; player.paint(); }
  requestAnimationFrame(tick);
}

window.supple = player;  // for tests, and for the curious
const embedded = place("scene");
if (embedded) player.load(unpackAll(JSON.parse(embedded.textContent))); else listen();
requestAnimationFrame(tick);
