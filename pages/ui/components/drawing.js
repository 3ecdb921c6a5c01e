export default function (component) {
  const box = component.parentElement.querySelector(".drawing");
  box.innerHTML = component.data.svg;
  for (const link of box.querySelectorAll("a[data-page]")) {
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      component.setTriggerValue("page", link.dataset.page);
    };
  }
}
