// Sets the chosen theme before the first paint. A classic script in the head, because modules run too late for that.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("potato.theme");
  } catch {
    // Storage is refused by the browser: the system's theme stands.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
