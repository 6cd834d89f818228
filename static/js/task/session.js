/**
 * Requests to our own site, and signing in again where the session ended while somebody worked. A password goes to
 * the site's own sign-in and is kept nowhere.
 */

import { on } from "../events.js";
import { form, one, show } from "./dom.js";

/** @typedef {{ status: number, data: any }} Answer status 0 is a server that was not reached; data null an answer without JSON */

const PATIENCE = 20_000;

/** The token against forged requests; it changes with every sign-in. */
function token() {
  return /(?:^|; )(?:__Host-)?csrf=([^;]+)/.exec(document.cookie)?.[1] ?? "";
}

/**
 * @param {string} method @param {string} address
 * @param {BodyInit | null} [body] @param {Record<string, string>} [headers] @param {boolean} [isLast] goes on when the page is left
 * @returns {Promise<Answer>}
 */
async function send(method, address, body = null, headers = {}, isLast = false) {
  try {
    const answer = await fetch(address, {
      method,
      body,
      headers: { Accept: "application/json", "X-CSRFToken": token(), ...headers },
      redirect: "error",
      keepalive: isLast,
      signal: AbortSignal.timeout(PATIENCE),
    });
    const data = await answer.json().catch(() => null);
    // Half an answer is none.
    return { status: answer.ok && data === null ? 0 : answer.status, data };
  } catch {
    return { status: 0, data: null };
  }
}

export class Session {
  /** @type {Promise<boolean> | undefined} */ #signingIn;
  /** @type {(isSignedIn: boolean) => void} */ #finish = () => {};
  /** The annotator has closed the dialog, and opens it again themselves. */
  isPutOff = false;

  /** @param {import("./task.js").TaskData} data @param {() => void} signedIn */
  constructor(data, signedIn) {
    this.data = data;
    this.signedIn = signedIn;
    on("submit", "#sign-in form", (event, matched) => {
      event.preventDefault();
      this.#try(/** @type {HTMLFormElement} */ (matched));
    });
    // Esc, and the button "Not now".
    one("#sign-in").onclose = () => {
      if (!this.#signingIn) return;
      this.isPutOff = true;
      this.#finish(false);
    };
  }

  /**
   * Ask our API; where the session ended, the annotator signs in first and it is asked again.
   * @param {string} method @param {string} path below the API's address
   * @param {any} [body] JSON @param {Record<string, string>} [headers] @param {boolean} [isLast]
   * @returns {Promise<Answer>}
   */
  async request(method, path, body, headers = {}, isLast = false) {
    const json = body === undefined ? null : JSON.stringify(body);
    const all = json === null ? headers : { "Content-Type": "application/json", ...headers };
    for (;;) {
      const answer = await send(method, this.data.api + path, json, all, isLast);
      // 404 for what this page was made of: somebody else is signed in now. A file without such lines is none of that.
      const isStranger = answer.status === 404 && !path.includes("/lines/");
      if (isLast || (answer.status !== 401 && !isStranger)) return answer;
      if (this.isPutOff || !(await this.signIn())) return { status: 401, data: answer.data };
    }
  }

  /** Show the dialog. @returns {Promise<boolean>} whether the annotator is signed in now */
  signIn() {
    this.isPutOff = false;
    this.#signingIn ??= new Promise((resolve) => {
      this.#finish = resolve;
      this.#say("");
      show("sign-in");
    }).finally(() => (this.#signingIn = undefined));
    return this.#signingIn;
  }

  /** @param {HTMLFormElement} fields */
  async #try(fields) {
    const button = /** @type {HTMLButtonElement} */ (fields.querySelector("[type=submit]"));
    if (button.ariaBusy === "true") return;
    button.ariaBusy = "true";
    this.#say("");
    const problem = await this.#enter(new FormData(fields));
    button.ariaBusy = null;
    if (problem) {
      this.#say(problem);
      const password = form(fields, "password");
      password.value = "";
      password.focus();
      return;
    }
    fields.reset();
    for (const hidden of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("[name=csrfmiddlewaretoken]"))) {
      hidden.value = token();
    }
    this.#finish(true);
    this.#signingIn = undefined;
    /** @type {HTMLDialogElement} */ (one("#sign-in")).close();
    this.signedIn();
  }

  /** @param {FormData} given @returns {Promise<string>} why not, or nothing */
  async #enter(given) {
    const headers = { "X-Requested-With": "XMLHttpRequest" };
    // Asked first, as it brings the token where the browser has lost its cookies. It answers with another address
    // where somebody is signed in already, perhaps from another tab.
    const before = await send("GET", this.data.login, null, headers);
    if (before.data?.location) {
      if (await this.#isMine()) return "";
      await this.#signOut();
      await send("GET", this.data.login, null, headers);
    }
    const { status, data } = await send("POST", this.data.login, given, headers);
    if (status === 0) return "The site was not reached. Your work is kept in this browser; try again in a moment.";
    if (status === 429) return "Too many attempts. Wait a few minutes, then try again; your work is kept.";
    if (status !== 200) return sentences(data?.form) || `The site could not sign you in (${status}). Try again.`;
    if (await this.#isMine()) return "";
    await this.#signOut();
    return `This work is ${this.data.annotator}'s, and that account cannot see it. It is kept here: sign in as ${this.data.annotator}.`;
  }

  async #isMine() {
    return (await send("GET", `${this.data.api}assignments/${this.data.assignment.id}/`)).status === 200;
  }

  #signOut() {
    return send("POST", one("#sign-in").dataset.logout ?? "", null, { "X-Requested-With": "XMLHttpRequest" });
  }

  /** @param {string} words */
  #say(words) {
    const place = one("#sign-in [data-problem]");
    place.hidden = !words;
    one("#sign-in [data-problem] span").textContent = words;
  }
}

/** What the sign-in says of its fields. @param {any} answer */
function sentences(answer) {
  const fields = /** @type {{ errors: string[] }[]} */ (Object.values(answer?.fields ?? {}));
  return [...(answer?.errors ?? []), ...fields.flatMap(({ errors }) => errors)].join(" ");
}
