/** The filter above the list of files or steps. */

/** Show in the rail what has these words in its name alone. @param {HTMLInputElement} input */
export function filterRail(input) {
  const rail = input.closest(".rail");
  const words = input.value.trim().toLowerCase();
  const links = /** @type {HTMLElement[]} */ ([...(rail?.querySelectorAll(".tree__file, .srail__item") ?? [])]);
  for (const link of links) {
    const folder = link.closest(".tree__group")?.querySelector(".tree__dir")?.textContent?.trim() ?? "";
    const name = link.querySelector(".trunc")?.textContent ?? "";
    link.hidden = !`${folder ? `${folder}/` : ""}${name}`.toLowerCase().includes(words);
  }
  for (const group of /** @type {NodeListOf<HTMLElement>} */ (rail?.querySelectorAll(".tree__group") ?? [])) {
    group.hidden = !group.querySelector(".tree__file:not([hidden])");
  }
  const found = rail?.querySelector("[data-found]");
  if (found) found.textContent = words ? `${links.filter((link) => !link.hidden).length} / ${links.length}` : "";
}
