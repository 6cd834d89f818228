/**
 * Signing in again in the page, over the work. A password goes to the site's own sign-in and is kept nowhere; somebody
 * else's account is signed out again.
 */

import { on } from "../events.js";
import { one, show } from "./dom.js";
import { send, token } from "./http.js";

const HEADERS = { "X-Requested-With": "XMLHttpRequest" };

/** @type {import("./task.js").TaskData} */ let data;

on("submit", "#sign-in form", (event, fields) => {
  event.preventDefault();
  attempt(/** @type {HTMLFormElement} */ (fields));
});

/** Show the dialog. @param {import("./task.js").TaskData} task @returns {Promise<boolean>} false where it is put off */
export function signIn(task) {
  data = task;
  say("");
  const dialog = show("sign-in");
  dialog.returnValue = "";
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue === "done");
  });
}

/** @param {HTMLFormElement} fields */
async function attempt(fields) {
  const button = /** @type {HTMLButtonElement} */ (one("[type=submit]", fields));
  if (button.ariaBusy === "true") return;
  button.ariaBusy = "true";
  say("");
  const problem = await enter(new FormData(fields));
  button.ariaBusy = null;
  const password = /** @type {HTMLInputElement} */ (one("[name=password]", fields));
  password.value = "";
  if (problem) {
    say(problem);
    password.focus();
    return;
  }
  // The forms of this page hold the token of the session that ended.
  for (const hidden of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("[name=csrfmiddlewaretoken]"))) {
    hidden.value = token();
  }
  /** @type {HTMLDialogElement} */ (one("#sign-in")).close("done");
}

/** @param {FormData} given @returns {Promise<string>} why not, or nothing */
async function enter(given) {
  // Asked first, as it brings the token where the browser has lost its cookies. It answers with another address where
  // somebody is signed in already, perhaps from another tab.
  const before = await send("GET", data.login, null, HEADERS);
  if (before.data?.location) {
    if (await isMine()) return "";
    await signOut();
    await send("GET", data.login, null, HEADERS);
  }
  const { status, data: answer } = await send("POST", data.login, given, HEADERS);
  if (status === 0) return "The site was not reached. Your work is kept in this browser; try again in a moment.";
  if (status === 429 || status === 503) {
    return `${sentences(answer?.form) || "The site cannot sign you in now. Try again in a minute."} Your work is kept.`;
  }
  if (status !== 200) return sentences(answer?.form) || `The site could not sign you in (${status}). Try again.`;
  if (await isMine()) return "";
  await signOut();
  return `This work is ${data.annotator}'s, and that account cannot see it. It is kept here: sign in as ${data.annotator}.`;
}

async function isMine() {
  return (await send("GET", `${data.api}assignments/${data.assignment.id}/`)).status === 200;
}

function signOut() {
  return send("POST", one("#sign-in").dataset.logout ?? "", null, HEADERS);
}

/** What the sign-in says of its fields. @param {any} form */
function sentences(form) {
  const fields = /** @type {{ errors: string[] }[]} */ (Object.values(form?.fields ?? {}));
  return [...(form?.errors ?? []), ...fields.flatMap(({ errors }) => errors)].join(" ");
}

/** @param {string} words */
function say(words) {
  one("#sign-in [data-problem]").hidden = !words;
  one("#sign-in [data-problem] span").textContent = words;
}
