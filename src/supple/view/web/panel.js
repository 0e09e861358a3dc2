// Controls beside the picture, made from the scene.
function make(tag, options = {}, ...children) {
  const node = Object.assign(document.createElement(tag), options);
  node.append(...children);
  return node;
}

function choice(label, options, value, chosen) {
  const select = make("select", {}, ...options.map(name => make("option", {value: name, textContent: name})));
  select.value = value;
  select.onchange = () => chosen(select.value);
  return make("label", {}, label, select);
}

function check(label, value, changed) {
  const box = make("input", {type: "checkbox", checked: value});
  box.onchange = () => changed(box.checked);
  return make("label", {}, box, label);
}

function slider(label, {low, high, step, value, unit = "", log = false}, changed) {
  const put = v => log ? Math.log10(v) : v, get = v => log ? 10 ** v : v;
  const input = make("input", {type: "range", min: put(low), max: put(high), step: log ? 0.01 : step, value: put(value), ariaLabel: label});
  const out = make("output");
  const tell = () => { out.textContent = `${told(get(Number(input.value)))} ${unit}`; };
  input.oninput = () => { tell(); changed(get(Number(input.value))); };
  tell();
  const node = make("label", {className: "slider"}, label, out, input);
  node.put = v => { input.value = put(v); tell(); };
  return node;
}

function scaleOf(name, {unit, signed, largest, colors}) {
  const low = signed ? -largest : 0, bar = make("i");
  const stops = [...Array(17).keys()].map(k => `rgb(${colors[Math.round(k * 255 / 16)]})`);
  bar.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
  const ends = make("div", {}, ...[low, (low + largest) / 2, largest].map(v => make("span", {textContent: told(v)})));
  return make("div", {className: "scale"}, `${name} (${unit})`, bar, ends);
}

class Panel {
  constructor(place, player) { this.place = place; this.player = player; this.parts = {}; }

  load() {
    const {scene, camera, plots} = this.player, {data, visible} = scene;
    const nothing = "nothing";
    const show = make("div", {},
      choice("rods by", ["plain", ...data.quantities], scene.color, value => { scene.color = value; this.legend(); this.player.redraw(); }),
      make("div", {className: "checks"}, ...Object.keys(visible).map(layer => check(layer, visible[layer], on => { visible[layer] = on; this.legend(); this.player.redraw(); })),
        ...(scene.rods.length ? [check("clear rods", scene.clear, on => { scene.clear = on; this.player.redraw(); })] : [])));
    if (!scene.rods.length) show.firstChild.hidden = true;
    const fit = make("button", {textContent: "Fit"});
    fit.onclick = () => this.player.fit();
    const seen = make("div", {}, fit, choice("follow", [nothing, ...data.frames], nothing, value => this.player.follow(value === nothing ? null : value)));
    const curves = plots.plots.map(plot => check(plot.title, !plot.figure.hidden, on => {
      plot.figure.hidden = !on; plots.hidden[on ? "delete" : "add"](plot.title); this.player.redraw();
    }));
    this.numbers = make("div", {}, make("p", {textContent: "Click an item to see its numbers."}));
    this.put("Show", show); this.put("Camera", seen);
    if (curves.length) this.put("Plots", make("div", {className: "checks"}, ...curves));
    this.put("Picked", this.numbers);
    this.legend();
  }

  // A part of the panel, in the place of the one of the same name.
  put(title, node) {
    if (!this.parts[title]) {
      this.parts[title] = make("div", {}, make("h2", {textContent: title}), node);
      this.place.append(this.parts[title]);
    } else this.parts[title].lastChild.replaceWith(node);
  }

  legend() {
    const {scene} = this.player, {scales} = scene.data, shown = [];
    if (scene.color !== "plain" && scene.visible.rods) shown.push(scene.color);
    if (scene.visible.tendons) shown.push("tension");
    if (scene.visible.chambers) shown.push("pressure");
    document.getElementById("legend").replaceChildren(...shown.map(name => scaleOf(name, scales[name])));
    this.told = shown.map(name => scales[name].largest).join();
  }

  // What is not to scale, and what is picked, at the present time.
  show(picked) {
    const {scene} = this.player, {data} = scene, notes = [];
    const thick = [...(scene.visible.rods ? scene.rods : []), ...(scene.visible.chambers ? scene.chambers : [])].filter(s => s.factor > 1.005);
    const most = {};
    for (const s of thick) { const factor = s.factor.toPrecision(2); (most[factor] ||= []).push(s.data.name); }
    for (const [factor, names] of Object.entries(most)) notes.push(`${names.length > 3 ? `${names.length} rods` : names.join(", ")} drawn ${factor} × as thick`);
    if (scene.visible.tendons) notes.push("tendons not to scale");
    const text = notes.join(" · "), place = document.getElementById("notes");
    if (place.textContent !== text) place.textContent = text;
    const {scales} = data;
    if (this.told !== [...(scene.color !== "plain" && scene.visible.rods ? [scene.color] : []), ...(scene.visible.tendons ? ["tension"] : []), ...(scene.visible.chambers ? ["pressure"] : [])].map(n => scales[n].largest).join()) this.legend();
    if (picked) this.tell(picked);
  }

  tell({name, strand, share}) {
    const {scene} = this.player, {data, when} = scene, rows = [];
    if (strand && strand.data.kind === "rod") {
      rows.push(["along it", `${told(share)} of its length`]);
      const point = strand.point(share);
      rows.push(["point (m)", point.map(told).join(", ")]);
      for (const [quantity, values] of Object.entries(strand.data.values)) {
        const v = mixed(values, when)[Math.round(share * (strand.n - 1))];
        rows.push([`${quantity} (${data.scales[quantity]?.unit ?? ""})`, told(v)]);
      }
    }
    for (const number of data.numbers) if (number.item === name) rows.push([`${number.name} (${number.unit})`, [...mixed(number.values, when)].map(told).join(", ")]);
    const table = make("table", {}, ...rows.map(([what, value]) => make("tr", {}, make("td", {textContent: what}), make("td", {textContent: value}))));
    this.numbers.replaceChildren(make("b", {textContent: name}), table);
  }
}
