/** Requests to our own site. */

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
