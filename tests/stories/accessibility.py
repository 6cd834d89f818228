"""What axe finds wrong on a page for people who see, hear or type differently."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

# The rules of WCAG 2.0 to 2.2, A and AA. Of what passes they describe one place each: all places are a megabyte.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# What follows from how an element is drawn. A theme changes colours and nothing else.
COLOURS = ["color-contrast", "link-in-text-block"]
DRAWN = [*COLOURS, "target-size"]

# Django's admin fades from the colours of one theme into those of the other.
END_TRANSITIONS = """() => {
  const running = () => document.getAnimations().filter((one) => one instanceof CSSTransition);
  for (let found = running(); found.length; found = running()) for (const one of found) one.finish();
}"""

# One element of each way to be drawn that no page of this test run had: what it is, its colours and what is behind
# them, its letters, and the size of what is smaller than a finger. Answers their ways beside what axe finds in them.
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
    const target = element.matches("a, button, input, select, summary, textarea, [tabindex]");
    if (!target && !written(element)) continue;
    const {width, height} = element.getBoundingClientRect();
    if (!width || !height) continue;
    const {color, fontSize, fontWeight, textShadow, textDecorationLine} = getComputedStyle(element);
    const small = target && (width < 24 || height < 24) ? `${Math.round(width)}x${Math.round(height)}` : "";
    const disabled = element.closest(":disabled, [aria-disabled=true]") !== null;
    const around = getComputedStyle(element.parentNode).color;
    const way = [element.localName, element.getAttribute("class"), color, around, ground(element), fontSize, fontWeight,
      textShadow, textDecorationLine, small, disabled].join("|");
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

    Colours and sizes are judged once for each way in which an element is drawn, not once a page: of a page of the
    task they are four fifths of axe's 2.5 s. What a story finds wrong is not remembered, so each story finds it.
    """

    def __init__(self) -> None:
        self._judged: dict[str, set[str]] = {}

    def violations(self, page: Page, *, theme: str = "") -> list[dict[str, Any]]:
        """What breaks a rule, as axe describes it. With a theme's name colours alone are judged."""
        # What has just changed its colours is judged by those that stay.
        page.evaluate(END_TRANSITIONS)
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE_SCRIPT)
        found: list[dict[str, Any]] = []
        if not theme:
            apart = {rule: {"enabled": False} for rule in DRAWN}
            options = {"runOnly": RULES, "resultTypes": ["violations"], "rules": apart}
            found += page.evaluate("(options) => axe.run(options)", options)["violations"]
        rules = COLOURS if theme else DRAWN
        judged = self._judged.setdefault(theme, set())
        drawn = page.evaluate(JUDGE_NEW_WAYS, [rules, sorted(judged)])
        if not drawn["violations"]:
            judged.update(drawn["fresh"])
        found += drawn["violations"]
        return found
