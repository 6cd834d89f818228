/** Ways to the files of a trace and their lines, wherever the page is. */

/** @typedef {{ path: string, side?: string, line?: number }} Place */
/** @typedef {{ tab: string, urls: { files: string }, files: { index: number, path: string }[] }} Evidence */

/**
 * Show a file or one of its lines, wherever the page is. On another page of the trace the browser goes there.
 * @param {Evidence} data
 * @param {number | Place} place a file's index or a place in it
 * @returns {Promise<HTMLElement | null>} the row or the file; null while the browser goes elsewhere
 */
export async function goToPlace(data, place) {
  const { path, side = "new", line = 0 } = typeof place === "number" ? { path: "" } : place;
  const index = typeof place === "number" ? place : data.files.find((file) => file.path === path)?.index;
  if (index === undefined) return null;
  if (data.tab === "files") {
    const { goTo } = await import("../trace-page.js");
    const shown = await goTo({ id: `f${index}`, side, line });
    if (shown) return shown;
  }
  const address = new URL(data.urls.files, location.href);
  address.searchParams.set("file", String(index));
  address.hash = `f${index}${line ? `-${side}-${line}` : ""}`;
  location.assign(address);
  return null;
}
