// Curves over time on small canvases, with a mark at the present time.
const CURVES = ["#2f6db3", "#d5722b", "#3a9150", "#b8423f", "#7a5bb0", "#7c5a4a", "#c265a4", "#6f7680"];
const NOISE = 1e-8;  // what changes less is drawn as a straight line
const WINDOW = 10;  // seconds of a live run

class Plots {
  constructor(place, seek) {
    this.place = place; this.seek = seek; this.plots = []; this.hidden = new Set(); this.past = null;
  }

  load(t, plots) {
    this.place.replaceChildren();
    this.t = t;
    this.plots = plots.map(plot => this.make(plot));
  }

  make({title, unit, curves}) {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    const canvas = document.createElement("canvas"), list = document.createElement("ul");
    caption.textContent = `${title} (${unit})`;
    figure.append(caption, canvas, list);
    this.place.append(figure);
    const items = curves.map(([name], i) => {
      const item = document.createElement("li");
      item.style.setProperty("--c", CURVES[i % CURVES.length]);
      list.append(item);
      return [name, item];
    });
    const plot = {title, figure, canvas, items, curves: curves.map(([, array]) => array.values), stale: true};
    const point = event => {
      const box = canvas.getBoundingClientRect(), [first, last] = this.range;
      this.seek(first + (last - first) * Math.max(0, Math.min(1, (event.clientX - box.left - LEFT) / (box.width - LEFT - 4))));
    };
    canvas.onpointerdown = event => { canvas.setPointerCapture(event.pointerId); point(event); };
    canvas.onpointermove = event => { if (event.buttons) point(event); };
    figure.hidden = this.hidden.has(title);
    return plot;
  }

  get range() { return [this.t[0], this.t.length > 1 ? this.t[this.t.length - 1] : this.t[0] + 1]; }

  // One instant more of a live run.
  append(time, plots) {
    if (!this.past || time < this.past.t[this.past.t.length - 1]) this.past = {t: [], rows: plots.map(p => p.curves.map(() => []))};
    const {t, rows} = this.past;
    t.push(time);
    plots.forEach((p, i) => p.curves.forEach(([, array], k) => rows[i][k].push(array.values[0])));
    while (t[0] < time - WINDOW) { t.shift(); rows.forEach(r => r.forEach(c => c.shift())); }
    this.t = t;
    this.plots.forEach((plot, i) => { plot.curves = rows[i]; });
  }

  show(time) {
    for (const plot of this.plots) if (!plot.figure.hidden) this.paint(plot, time);
  }

  paint({canvas, curves, items}, time) {
    const dpr = window.devicePixelRatio || 1, wide = canvas.clientWidth, high = canvas.clientHeight;
    if (!wide) return;
    if (canvas.width !== Math.round(wide * dpr)) { canvas.width = Math.round(wide * dpr); canvas.height = Math.round(high * dpr); }
    const pen = canvas.getContext("2d"), [first, last] = this.range;
    let low = Infinity, high_ = -Infinity;
    for (const curve of curves) for (const v of curve) if (isFinite(v)) { low = Math.min(low, v); high_ = Math.max(high_, v); }
    if (!(high_ - low > Math.max(NOISE, 1e-6 * Math.abs(low)))) { const pad = Math.abs(low) > NOISE ? Math.abs(low) : 1; low -= 0.5 * pad; high_ += 0.5 * pad; }
    const ticks = ticksOf(low, high_), left = LEFT, right = wide - 4, top = 6, bottom = high - 17;
    const x = t => left + (right - left) * (t - first) / (last - first), y = v => bottom - (bottom - top) * (v - low) / (high_ - low);
    pen.setTransform(dpr, 0, 0, dpr, 0, 0); pen.clearRect(0, 0, wide, high);
    pen.font = "10px system-ui, sans-serif"; pen.fillStyle = "#77808e"; pen.strokeStyle = "#e3e7ed"; pen.lineWidth = 1;
    pen.textAlign = "right"; pen.textBaseline = "middle"; pen.beginPath();
    for (const v of ticks) { pen.moveTo(left, y(v)); pen.lineTo(right, y(v)); pen.fillText(told(v), left - 4, y(v)); }
    pen.textAlign = "center"; pen.textBaseline = "top";
    for (const t of ticksOf(first, last)) { pen.moveTo(x(t), bottom); pen.lineTo(x(t), bottom + 3); pen.fillText(told(t), Math.min(x(t), right - 8), bottom + 4); }
    pen.stroke();
    curves.forEach((curve, i) => {
      pen.strokeStyle = CURVES[i % CURVES.length]; pen.lineWidth = 1.5; pen.lineJoin = "round"; pen.beginPath();
      curve.forEach((v, k) => { if (isFinite(v)) pen[k && isFinite(curve[k - 1]) ? "lineTo" : "moveTo"](x(this.t[k]), y(v)); });
      pen.stroke();
    });
    pen.strokeStyle = "#2b2f36"; pen.lineWidth = 1; pen.beginPath(); pen.moveTo(x(time), top); pen.lineTo(x(time), bottom); pen.stroke();
    const {frame, share} = whenIs(this.t, time);
    items.forEach(([name, item], i) => {
      const c = curves[i], v = share ? (1 - share) * c[frame] + share * c[frame + 1] : c[frame];
      item.textContent = `${name} ${told(v)}`;
    });
    canvas.dataset.mark = x(time);
  }
}
const LEFT = 46;

// Three or four round numbers in a range.
function ticksOf(low, high) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough * 0.8);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}
