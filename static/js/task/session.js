/**
 * Requests to our own site. Where the session ended while somebody worked, they sign in again in the page, and what
 * was asked is asked again.
 */

/** @typedef {{ status: number, data: any }} Answer status 0 is a server that was not reached; data null an answer without JSON */

const PATIENCE = 20_000;

/** The token against forged requests; it changes with every sign-in. */
export function token() {
  return /(?:^|; )(?:__Host-)?csrf=([^;]+)/.exec(document.cookie)?.[1] ?? "";
}

/**
 * @param {string} method @param {string} address
 * @param {BodyInit | null} [body] @param {Record<string, string>} [headers] @param {boolean} [isLast] goes on when the page is left
 * @returns {Promise<Answer>}
 */
export async function send(method, address, body = null, headers = {}, isLast = false) {
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
