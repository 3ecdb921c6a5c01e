const load = () => window.fiveCallsPlotly ??= new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = new URL("plotly.min.js", location.href.split("?")[0]);
  script.onload = () => done(window.Plotly);
  script.onerror = failed;
  document.head.append(script);
});

const themed = (value, dark) => {
  if (typeof value === "string") return value.replace(/light-dark\(([^,]+), ([^)]+)\)/g, dark ? "$2" : "$1");
  if (Array.isArray(value)) return value.map((item) => themed(item, dark));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, themed(v, dark)]));
  return value;
};

export default async function ({ parentElement: root, data }) {
  const box = root.querySelector(".fc-chart");
  box.style.minHeight = `${data.height}px`;
  box.setAttribute("aria-label", data.words);
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(data.address)) address.searchParams.set(name, value);
  if (address.href !== location.href) history.replaceState(history.state, "", address);
  const plotly = await load();
  const dark = getComputedStyle(box).colorScheme === "dark";
  const { data: traces, layout } = themed(data.figure, dark);
  box.digits = data.digits;
  box.inLight = () => {
    const light = themed(data.figure, false);
    return plotly.toImage({ data: light.data, layout: light.layout }, { format: "svg", width: 900, height: data.height });
  };
  await plotly.react(box, traces, { ...layout, height: data.height }, { responsive: true, displaylogo: false, displayModeBar: false });
  if (!box.localised) {
    box.localised = true; // Plotly has no Bangla digits; each plot, and each zoom, writes its ticks anew
    box.on("plotly_afterplot", () => localise(box));
    localise(box);
  }
}

function localise(box) {
  for (const tick of box.querySelectorAll(".xtick text, .ytick text")) {
    const text = tick.textContent.replace(/[0-9]/g, (digit) => box.digits[digit]);
    if (text !== tick.textContent) tick.textContent = text;
  }
}
