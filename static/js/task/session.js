/**
 * Requests that outlive the session: where it ended while somebody worked, they sign in again in the page, and what was
 * asked is asked again.
 */

import { send } from "./http.js";

/** @typedef {import("./http.js").Answer} Answer */

export class Session {
  /** @type {Promise<boolean> | undefined} */ #signingIn;
  /** The annotator has closed the dialog, and opens it again themselves. */
  isPutOff = false;

  /** @param {import("./task.js").TaskData} data */
  constructor(data) {
    this.data = data;
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
    this.#signingIn ??= import("./sign-in.js")
      .then(({ signIn }) => signIn(this.data))
      .catch(() => false)
      .finally(() => (this.#signingIn = undefined))
      .then((isSignedIn) => !(this.isPutOff = !isSignedIn));
    return this.#signingIn;
  }
}
