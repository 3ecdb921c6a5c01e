export default function ({ parentElement: root, data }) {
  const $ = (selector) => root.querySelector(selector);
  const link = $("[data-act=link]"), script = $("[data-act=script]"), area = $(".by-hand");
  link.textContent = data.text.link;
  script.textContent = data.text.script;
  script.hidden = !data.script;
  window.fiveCallsScript = { path: location.pathname, text: data.script ?? "" };
  const copy = async (text, said) => {
    try {
      await navigator.clipboard.writeText(text);
      area.hidden = true;
    } catch { // no permission, or no secure context: let the visitor copy by hand
      said = data.text.byHand;
      area.hidden = false;
      area.value = text;
      area.setAttribute("aria-label", said);
      area.select();
    }
    $("[role=status]").textContent = said;
    setTimeout(() => { $("[role=status]").textContent = ""; }, 4000);
  };
  link.onclick = () => copy(location.href, data.text.linkCopied);
  script.onclick = () => copy(data.script, data.text.scriptCopied);
}
