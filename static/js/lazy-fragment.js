/**
 * <lazy-fragment src="...">: loads a piece of the page from our own site when it comes near the viewport, once.
 * Until then it holds a link to the same content, which is what a browser without JavaScript follows.
 *
 * Attributes: src; data-rows, the number of rows that room is kept for, 0 where it is not known.
 * It sends "fragment" when its content has come, and holds a copy of <template id="fragment-failed"> where it has not.
 */

const AHEAD = "1500px";
const MOST_ROWS = 1500;

/**
 * HTML of our own site as nodes. This is the one place where text becomes elements: the site escapes all that is
 * in a run before it stores it, and an answer from elsewhere, or after a redirect, is refused.
 * @param {string} address
 * @returns {Promise<DocumentFragment>}
 */
export async function fragmentFrom(address) {
  return parsed(await (await answerOf(address)).text());
}

/**
 * The same where it is another than the one with that tag; null where it is not.
 * @param {string} address @param {string} tag
 * @returns {Promise<{ content: DocumentFragment, tag: string } | null>}
 */
export async function fragmentIfChanged(address, tag) {
  const answer = await answerOf(address, { "If-None-Match": `"${tag}"` });
  if (answer.status === 304) return null;
  return { content: parsed(await answer.text()), tag: (answer.headers.get("ETag") ?? "").replace(/^(W\/)?"|"$/g, "") };
}

/** @param {string} address @param {Record<string, string>} headers */
async function answerOf(address, headers = {}) {
  const url = new URL(address, document.baseURI);
  if (url.origin !== location.origin) throw new Error(`${url.origin} is not this site`);
  const answer = await fetch(url, { redirect: "error", headers });
  if (!answer.ok && answer.status !== 304) throw new Error(`${url.pathname} answered ${answer.status}`);
  return answer;
}

/** @param {string} markup */
function parsed(markup) {
  const template = document.createElement("template");
  template.innerHTML = markup;
  return template.content;
}

/** What is shown where a fragment did not come; its button has data-again. @returns {Node} */
export function failure() {
  const template = document.getElementById("fragment-failed");
  return template instanceof HTMLTemplateElement ? template.content.cloneNode(true) : document.createTextNode("");
}

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting && target instanceof LazyFragment) target.load();
    }
  },
  { rootMargin: `${AHEAD} 0px` },
);

export class LazyFragment extends HTMLElement {
  /** @type {Promise<void> | undefined} */ #loading;

  connectedCallback() {
    if (this.isLoaded) return;
    const rows = Math.min(Number(this.dataset.rows) || 0, MOST_ROWS);
    if (rows) this.style.minBlockSize = `calc(${rows} * var(--diff-row))`;
    near.observe(this);
  }

  disconnectedCallback() {
    near.unobserve(this);
  }

  get isLoaded() {
    return "loaded" in this.dataset;
  }

  /** Load it now; resolves when the content is there or has failed to come. @returns {Promise<void>} */
  load() {
    near.unobserve(this);
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load() {
    if (this.isLoaded) return;
    this.ariaBusy = "true";
    try {
      this.replaceChildren(await fragmentFrom(this.getAttribute("src") ?? ""));
      this.dataset.loaded = "";
    } catch {
      this.replaceChildren(failure());
      this.#loading = undefined;
    } finally {
      this.ariaBusy = null;
      this.style.minBlockSize = "";
    }
    this.dispatchEvent(new CustomEvent("fragment", { bubbles: true }));
  }
}
