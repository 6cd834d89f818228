"""What axe finds wrong on a page for people who see, hear or type differently."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

# The rules of WCAG 2.0 to 2.2, A and AA. Of what passes they describe one place each: all places are a megabyte.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# A theme changes colours and nothing else.
COLOURS = ["color-contrast", "link-in-text-block"]
OTHERS = {
    "runOnly": RULES,
    "resultTypes": ["violations"],
    "rules": {rule: {"enabled": False} for rule in COLOURS},
}

# Django's admin fades from the colours of one theme into those of the other.
END_TRANSITIONS = """() => {
  const running = () => document.getAnimations().filter((one) => one instanceof CSSTransition);
  for (let found = running(); found.length; found = running()) for (const one of found) one.finish();
}"""

# One element of each way to be drawn that no page of this test run had: what it is, its colours and what is behind
# them, and its letters. Answers their ways beside what axe finds in them.
JUDGE_NEW_WAYS = """async ([rules, known]) => {
  const seen = new Set(known), fresh = [], elements = [];
  const behind = new Map([[document, ""]]);
  const ground = (element) => {
    if (!behind.has(element)) {
      const {backgroundColor, backgroundImage, opacity} = getComputedStyle(element);
      const own = `${backgroundColor} ${backgroundImage} ${opacity}`;
      const under = ground(element.parentNode);
      behind.set(element, own === "rgba(0, 0, 0, 0) none 1" ? under : `${under}/${own}`);
    }
    return behind.get(element);
  };
  const written = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  for (const element of document.body.querySelectorAll("*")) {
    if (!element.matches("a, button, input, select, summary, textarea") && !written(element)) continue;
    const {width, height} = element.getBoundingClientRect();
    if (!width || !height) continue;
    const {color, fontSize, fontWeight, textShadow, textDecorationLine} = getComputedStyle(element);
    const disabled = element.closest(":disabled, [aria-disabled=true]") !== null;
    const around = getComputedStyle(element.parentNode).color;
    const way = [element.localName, element.getAttribute("class"), color, around, ground(element), fontSize, fontWeight,
      textShadow, textDecorationLine, disabled].join("|");
    if (seen.has(way)) continue;
    seen.add(way);
    fresh.push(way);
    elements.push(element);
  }
  if (!elements.length) return {violations: [], fresh};
  const {violations} = await axe.run(elements, {runOnly: {type: "rule", values: rules}, resultTypes: ["violations"]});
  return {violations, fresh};
}"""


class Accessibility:
    """Judges pages of one test run by axe's rules.

    Colours are judged once for each way in which an element is drawn, not once a page, where they took more than
    half of axe's 2.5 s for a task. What lies behind by its position alone makes no other way. What is found wrong
    is not remembered, so that each story finds it.
    """

    def __init__(self) -> None:
        self._judged: set[str] = set()

    def violations(self, page: Page, *, colours_alone: bool = False) -> list[dict[str, Any]]:
        """What breaks a rule, as axe describes it."""
        # What has just changed its colours is judged by those that stay.
        page.evaluate(END_TRANSITIONS)
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE_SCRIPT)
        found: list[dict[str, Any]] = []
        if not colours_alone:
            found += page.evaluate("(options) => axe.run(options)", OTHERS)["violations"]
        drawn = page.evaluate(JUDGE_NEW_WAYS, [COLOURS, sorted(self._judged)])
        if not drawn["violations"]:
            self._judged.update(drawn["fresh"])
        found += drawn["violations"]
        return found
