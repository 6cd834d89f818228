"""Configurations with faults, each with exactly what a person is told: line, column, sentence."""

from typing import NamedTuple


class Broken(NamedTuple):
    """One configuration with its errors. `seen_by_schema`: whether a JSON Schema can express what is wrong."""

    fault: str
    text: str
    told: list[tuple[int, int, str]]
    seen_by_schema: bool


HEAD = "task_name: X\nannotation_schemes:\n"
COMMENTS = f"{HEAD}  - name: inline_comments\n    annotation_type: code_review_comments\n    inline_comments:\n"
RATINGS = f"{HEAD}  - name: file_ratings\n    annotation_type: code_review_file_ratings\n    file_ratings:\n"
VERDICT = f"{HEAD}  - name: verdict\n    annotation_type: code_review_verdict\n    verdict:\n"

IN_KEYS = [
    Broken(
        "nothing",
        "\n",
        [(1, 1, "The configuration is empty. It needs at least task_name.")],
        seen_by_schema=True,
    ),
    Broken(
        "only a comment",
        "# soon\n",
        [(1, 1, "The configuration is empty. It needs at least task_name.")],
        seen_by_schema=True,
    ),
    Broken(
        "a list at the top",
        "- task_name: X\n",
        [(1, 1, "The configuration must be a block of keys. Found a list.")],
        seen_by_schema=True,
    ),
    Broken(
        "a text at the top",
        "Coding Agent Code Review\n",
        [(1, 1, 'The configuration must be a block of keys. Found the text "Coding Agent Code Review".')],
        seen_by_schema=True,
    ),
    Broken(
        "no task_name",
        "task_dir: here\n",
        [(1, 1, "task_name is missing. The configuration needs it.")],
        seen_by_schema=True,
    ),
    Broken(
        "an empty task_name",
        'task_name: ""\n',
        [(1, 12, "task_name must be text of 1 to 200 characters. Found an empty text.")],
        seen_by_schema=True,
    ),
    Broken(
        "spaces for a task_name",
        'task_name: "   "\n',
        [(1, 12, "task_name must be text of 1 to 200 characters. Found only spaces.")],
        seen_by_schema=True,
    ),
    Broken(
        "a number for a task_name",
        "task_name: 12\n",
        [(1, 12, "task_name must be text of 1 to 200 characters. Found the number 12. Put quotes around it if it is text.")],
        seen_by_schema=True,
    ),
    Broken(
        "a word that YAML takes for a boolean",
        "task_name: Yes\n",
        [(1, 12, "task_name must be text of 1 to 200 characters. Found Yes, which YAML reads as true. Put quotes around it if it is text.")],
        seen_by_schema=True,
    ),
    Broken(
        "a time that YAML takes for a number",
        "task_name: 1:30\n",
        [(1, 12, "task_name must be text of 1 to 200 characters. Found 1:30, which YAML reads as 90. Put quotes around it if it is text.")],
        seen_by_schema=True,
    ),
    Broken(
        "a date for a task_name",
        "task_name: 2025-01-15\n",
        [(1, 12, "task_name must be text of 1 to 200 characters. Found 2025-01-15, which YAML reads as a date. Put quotes around it if it is text.")],
        seen_by_schema=True,
    ),
    Broken(
        "a task_name without end",
        'task_name: ' + 'x' * 201,
        [(1, 12, "task_name must be text of 1 to 200 characters. Found a text of 201 characters.")],
        seen_by_schema=True,
    ),
    Broken(
        "an unknown key at the top",
        (
            "task_name: X\n"
            "task_titel: Y\n"
        ),
        [(2, 1, "task_titel is not a key of the configuration. Its keys are task_name, task_dir, data_files, item_properties, agentic, annotation_schemes, output_annotation_dir, output_annotation_format, guidelines and assignment.")],
        seen_by_schema=True,
    ),
    Broken(
        "a key near another",
        (
            "task_name: X\n"
            "annotation_scheme: []\n"
            "guidline: Be kind\n"
        ),
        [(2, 1, "annotation_scheme is not a key of the configuration. Did you mean annotation_schemes?"), (3, 1, "guidline is not a key of the configuration. Did you mean guidelines?")],
        seen_by_schema=True,
    ),
    Broken(
        "one file instead of a list",
        (
            "task_name: X\n"
            "data_files: data/traces.jsonl\n"
        ),
        [(2, 13, 'data_files must be a list of 1 to 1000 entries. Found the text "data/traces.jsonl".')],
        seen_by_schema=True,
    ),
    Broken(
        "an empty list of files",
        (
            "task_name: X\n"
            "data_files: []\n"
        ),
        [(2, 13, "data_files must be a list of 1 to 1000 entries. Found an empty list.")],
        seen_by_schema=True,
    ),
    Broken(
        "an unknown file format",
        (
            "task_name: X\n"
            "output_annotation_format: json\n"
        ),
        [(2, 27, 'output_annotation_format must be jsonl. Found the text "json".')],
        seen_by_schema=True,
    ),
    Broken(
        "two wrong item properties",
        (
            "task_name: X\n"
            "item_properties:\n"
            "  id_key: 1\n"
            "  text_kye: task\n"
        ),
        [(3, 11, "id_key must be text of 1 to 200 characters. Found the number 1. Put quotes around it if it is text."), (4, 3, "text_kye is not a key of item_properties. Did you mean text_key?")],
        seen_by_schema=True,
    ),
    Broken(
        "numbers out of bounds",
        (
            "task_name: X\n"
            "assignment:\n"
            "  annotations_per_trace: 0\n"
            "  lease_minutes: 100000\n"
            "  max_open: 1.5\n"
        ),
        [(3, 26, "annotations_per_trace must be a whole number from 1 to 100. Found the number 0."), (4, 18, "lease_minutes must be a whole number from 1 to 10080. Found the number 100000."), (5, 13, "max_open must be a whole number from 1 to 100. Found the number 1.5.")],
        seen_by_schema=True,
    ),
    Broken(
        "a block that is a list",
        (
            "task_name: X\n"
            "assignment: [1, 30, 1]\n"
        ),
        [(2, 13, "assignment must be a block of keys. Found a list of 3 entries.")],
        seen_by_schema=True,
    ),
    Broken(
        "a block that is empty",
        (
            "task_name: X\n"
            "agentic:\n"
            "assignment: {}\n"
        ),
        [(2, 9, "agentic must be a block of keys. Found nothing.")],
        seen_by_schema=True,
    ),
    Broken(
        "unknown choices",
        (
            "task_name: X\n"
            "agentic:\n"
            "  trace_converter: claude\n"
            "  display_type: coding_traces\n"
            "  coding_trace_display:\n"
            "    diff_style: side_by_side\n"
            "    terminal_theme: drak\n"
            "    file_tree: { position: top }\n"
        ),
        [(3, 20, 'trace_converter must be auto, claude_code, swebench, patch, native, react or webvoyager. Found the text "claude". Did you mean claude_code?'), (4, 17, 'display_type must be coding_trace, agent_trace or web_agent. Found the text "coding_traces". Did you mean coding_trace?'), (6, 17, 'diff_style must be unified or split. Found the text "side_by_side".'), (7, 21, 'terminal_theme must be dark or light. Found the text "drak". Did you mean dark?'), (8, 28, 'position must be left or right. Found the text "top".')],
        seen_by_schema=True,
    ),
    Broken(
        "switches that are no booleans",
        (
            "task_name: X\n"
            "agentic:\n"
            '  enabled: "true"\n'
            "  coding_trace_display:\n"
            "    syntax_highlight: 1\n"
            "    show_line_numbers: maybe\n"
            "    file_tree: { enabled: ~ }\n"
            "  steps: { split_tool_calls: [] }\n"
        ),
        [(3, 12, 'enabled must be true or false. Found the text "true". Write it without quotes.'), (5, 23, "syntax_highlight must be true or false. Found the number 1."), (6, 24, 'show_line_numbers must be true or false. Found the text "maybe".'), (7, 27, "enabled must be true or false. Found nothing."), (8, 30, "split_tool_calls must be true or false. Found an empty list.")],
        seen_by_schema=True,
    ),
    Broken(
        "a quoted number and a negative one",
        (
            "task_name: X\n"
            "agentic:\n"
            '  coding_trace_display: { diff_context_lines: "5" }\n'
            "assignment: { max_open: -1 }\n"
        ),
        [(3, 47, 'diff_context_lines must be a whole number from 0 to 1000. Found the text "5". Write it without quotes.'), (4, 25, "max_open must be a whole number from 1 to 100. Found the number -1.")],
        seen_by_schema=True,
    ),
    Broken(
        "context lines beyond all files",
        (
            "task_name: X\n"
            "agentic: { coding_trace_display: { diff_context_lines: 1_000_000 } }\n"
        ),
        [(2, 56, "diff_context_lines must be a whole number from 0 to 1000. Found 1_000_000, which YAML reads as 1000000.")],
        seen_by_schema=True,
    ),
    Broken(
        "no scheme at all",
        (
            "task_name: X\n"
            "annotation_schemes: []\n"
        ),
        [(2, 21, "annotation_schemes must be a list of 1 to 20 entries. Found an empty list.")],
        seen_by_schema=True,
    ),
    Broken(
        "a scheme that is a word",
        HEAD + "  - verdict\n",
        [(3, 5, 'Entry 1 of annotation_schemes must be a block of keys. Found the text "verdict".')],
        seen_by_schema=True,
    ),
    Broken(
        "a scheme without its two names",
        HEAD + "  - verdict: {}\n",
        [(3, 5, "annotation_type is missing. Entry 1 of annotation_schemes needs it."), (3, 5, "name is missing. Entry 1 of annotation_schemes needs it.")],
        seen_by_schema=True,
    ),
    Broken(
        "a misspelt type and a bad name",
        HEAD + (
            "  - name: my verdict\n"
            "    annotation_type: code_review_verdikt\n"
        ),
        [(3, 11, 'name must be 1 to 64 letters, digits, hyphens or underscores. Found the text "my verdict".'), (4, 22, "code_review_verdikt is not an annotation_type. Did you mean code_review_verdict?")],
        seen_by_schema=True,
    ),
    Broken(
        "a type that comes later",
        HEAD + (
            "  - name: process_reward\n"
            "    annotation_type: process_reward\n"
            "    mode: first_error\n"
            "  - name: verdict\n"
            "    annotation_type: code_review_verdict\n"
            "    verdict: { require_sumary: true }\n"
        ),
        [(4, 22, "Process reward annotation is not part of this version yet. Remove this scheme."), (8, 16, "require_sumary is not a key of verdict. Did you mean require_summary?")],
        seen_by_schema=True,
    ),
    Broken(
        "a type that nobody knows",
        HEAD + (
            "  - name: poem\n"
            "    annotation_type: rhyme\n"
        ),
        [(4, 22, "rhyme is not an annotation_type. Use code_review_comments, code_review_file_ratings or code_review_verdict.")],
        seen_by_schema=True,
    ),
    Broken(
        "two schemes of one name",
        HEAD + (
            "  - name: review\n"
            "    annotation_type: code_review_comments\n"
            "  - name: review\n"
            "    annotation_type: code_review_verdict\n"
        ),
        [(5, 11, "review is already the name of entry 1 of annotation_schemes. Each name must be used once.")],
        seen_by_schema=False,
    ),
    Broken(
        "two schemes of one type",
        HEAD + (
            "  - name: first\n"
            "    annotation_type: code_review_verdict\n"
            "  - name: second\n"
            "    annotation_type: code_review_verdict\n"
        ),
        [(6, 22, "A project has at most one scheme of the type code_review_verdict. Remove one of them.")],
        seen_by_schema=True,
    ),
    Broken(
        "the block of another type",
        HEAD + (
            "  - name: verdict\n"
            "    annotation_type: code_review_verdict\n"
            "    file_ratings: {}\n"
        ),
        [(5, 5, "file_ratings is not a key of entry 1 of annotation_schemes. Its keys are name, annotation_type, description and verdict.")],
        seen_by_schema=True,
    ),
    Broken(
        "an unknown key in a block",
        COMMENTS + "      severty: { enabled: true }\n",
        [(6, 7, "severty is not a key of inline_comments. Did you mean severity?")],
        seen_by_schema=True,
    ),
    Broken(
        "categories with every fault",
        COMMENTS + (
            "      categories:\n"
            "        - { value: bug, color: red, icon: hert }\n"
            "        - { value: no, display: 5 }\n"
            "        - { display: Nameless }\n"
            "        - { value: bug, icon: qqqqqq }\n"
            "        - style\n"
        ),
        [(7, 32, 'color must be a colour such as #f00 or #ff0000. Found the text "red".'), (7, 43, "hert is not the name of a Lucide icon. Did you mean heart?"), (8, 20, "value must be 1 to 64 letters, digits, hyphens or underscores. Found no, which YAML reads as false. Put quotes around it if it is text."), (8, 33, "display must be text of 1 to 200 characters. Found the number 5. Put quotes around it if it is text."), (9, 11, "value is missing. Entry 3 of categories needs it."), (10, 20, "bug is already the value of entry 1 of categories. Each value must be used once."), (10, 31, "qqqqqq is not the name of a Lucide icon. All names are at https://lucide.dev/icons."), (11, 11, 'Entry 5 of categories must be a block of keys. Found the text "style".')],
        seen_by_schema=True,
    ),
    Broken(
        "no categories",
        COMMENTS + "      categories: []\n",
        [(6, 19, "categories must be a list of 1 to 50 entries. Found an empty list.")],
        seen_by_schema=True,
    ),
    Broken(
        "a map of categories",
        COMMENTS + (
            "      categories:\n"
            "        bug: { color: '#ff0000' }\n"
        ),
        [(7, 9, "categories must be a list of 1 to 50 entries. Found a block of keys.")],
        seen_by_schema=True,
    ),
    Broken(
        "faults in the severity",
        COMMENTS + (
            "      severity:\n"
            "        enable: true\n"
            "        levels:\n"
            "          - { value: critical }\n"
            "          - { value: critical, color: '#f00' }\n"
        ),
        [(7, 9, "enable is not a key of severity. Did you mean enabled?"), (10, 22, "critical is already the value of entry 1 of levels. Each value must be used once."), (10, 32, "color is not a key of entry 2 of levels. Its keys are value and display.")],
        seen_by_schema=True,
    ),
    Broken(
        "severity as a switch",
        COMMENTS + "      severity: true\n",
        [(6, 17, "severity must be a block of keys. Found true.")],
        seen_by_schema=True,
    ),
    Broken(
        "a tick that comes later",
        COMMENTS + (
            "      allow_unsure: true\n"
            "      min_comments: -1\n"
        ),
        [(6, 21, "allow_unsure is not available yet. Remove it or set it to false."), (7, 21, "min_comments must be a whole number from 0 to 100. Found the number -1.")],
        seen_by_schema=True,
    ),
    Broken(
        "behaviour of the wrong type",
        COMMENTS + (
            '      require_category: "yes"\n'
            "      require_severity: 0\n"
            "      allow_multi_line: null\n"
            "      allow_suggestions: {}\n"
            "      min_comments: two\n"
        ),
        [(6, 25, 'require_category must be true or false. Found the text "yes".'), (7, 25, "require_severity must be true or false. Found the number 0."), (8, 25, "allow_multi_line must be true or false. Found nothing."), (9, 26, "allow_suggestions must be true or false. Found a block of keys."), (10, 21, 'min_comments must be a whole number from 0 to 100. Found the text "two".')],
        seen_by_schema=True,
    ),
    Broken(
        "dimensions with every fault",
        RATINGS + (
            "      dimensions:\n"
            "        - name: correctness\n"
            "          scale: { min: 5, max: 1 }\n"
            "        - name: speed\n"
            "          scale: { min: 0, max: 100 }\n"
            "        - name: speed\n"
            "          scale: { max: 3, labels: { 4: Great, good: Good, 1: 1 } }\n"
            "        - display: Nameless\n"
        ),
        [(8, 33, "min must be below max. Found a scale from 5 to 1."), (10, 33, "A scale has at most 11 points. Found 101, from 0 to 100."), (11, 17, "speed is already the name of entry 2 of dimensions. Each name must be used once."), (12, 38, "4 is not on the scale from 1 to 3. Remove its label or widen the scale."), (12, 48, "good cannot have a label. The keys of labels are the whole numbers of the scale."), (12, 63, "The label of 1 must be text of 1 to 200 characters. Found the number 1. Put quotes around it if it is text."), (13, 11, "name is missing. Entry 4 of dimensions needs it.")],
        seen_by_schema=True,
    ),
    Broken(
        "bounds that are no whole numbers",
        RATINGS + (
            "      dimensions:\n"
            "        - name: speed\n"
            '          scale: { min: "1", max: 4.5, labels: [Slow, Fast] }\n'
        ),
        [(8, 25, 'min must be a whole number from -100 to 100. Found the text "1". Write it without quotes.'), (8, 35, "max must be a whole number from -100 to 100. Found the number 4.5."), (8, 48, "labels must be a block of keys. Found a list of 2 entries.")],
        seen_by_schema=True,
    ),
    Broken(
        "a scale of one point",
        RATINGS + (
            "      dimensions:\n"
            "        - { name: speed, scale: { min: 5 } }\n"
        ),
        [(7, 40, "min must be below max. Found a scale from 5 to 5.")],
        seen_by_schema=False,
    ),
    Broken(
        "an icon on a dimension",
        RATINGS + (
            "      dimensions: [{ name: speed, icon: zap, description: 7 }]\n"
            "      include_renamed: true\n"
            "      include_unchanged: sometimes\n"
        ),
        [(6, 35, "icon is not a key of entry 1 of dimensions. Its keys are name, display, description and scale."), (6, 59, "description must be text of 1 to 2000 characters. Found the number 7. Put quotes around it if it is text."), (7, 7, "include_renamed is not a key of file_ratings. Its keys are dimensions, include_unchanged, include_new_files, include_deleted_files and require_all_files."), (8, 26, 'include_unchanged must be true or false. Found the text "sometimes".')],
        seen_by_schema=True,
    ),
    Broken(
        "the text twenty",
        VERDICT + (
            "      require_summary: true\n"
            "      summary_min_length: twenty\n"
        ),
        [(7, 27, 'summary_min_length must be a whole number from 0 to 5000. Found the text "twenty".')],
        seen_by_schema=True,
    ),
    Broken(
        "options with faults",
        VERDICT + (
            "      options:\n"
            "        - { value: approve, color: '#22c55' }\n"
            "        - { value: approve, display: '' }\n"
            "      summary_placeholder: 3\n"
            "      summary_min_length: 5001\n"
        ),
        [(7, 36, 'color must be a colour such as #f00 or #ff0000. Found the text "#22c55".'), (8, 20, "approve is already the value of entry 1 of options. Each value must be used once."), (8, 38, "display must be text of 1 to 200 characters. Found an empty text."), (9, 28, "summary_placeholder must be text of at most 200 characters. Found the number 3. Put quotes around it if it is text."), (10, 27, "summary_min_length must be a whole number from 0 to 5000. Found the number 5001.")],
        seen_by_schema=True,
    ),
    Broken(
        "too many options",
        VERDICT + "      options: [{ value: a0 }, { value: a1 }, { value: a2 }, { value: a3 }, { value: a4 }, { value: a5 }, { value: a6 }, { value: a7 }, { value: a8 }, { value: a9 }, { value: a10 }, { value: a11 }, { value: a12 }, { value: a13 }, { value: a14 }, { value: a15 }, { value: a16 }, { value: a17 }, { value: a18 }, { value: a19 }, { value: a20 }]\n",
        [(6, 16, "options must be a list of 1 to 20 entries. Found a list of 21 entries.")],
        seen_by_schema=True,
    ),
]

IN_YAML = [
    Broken(
        "a key given twice",
        (
            "task_name: X\n"
            "task_dir: a\n"
            "task_name: Y\n"
            "task_dri: b\n"
        ),
        [(3, 1, "task_name was already given on line 1. Remove one of the two."), (4, 1, "task_dri is not a key of the configuration. Its keys are task_name, task_dir, data_files, item_properties, agentic, annotation_schemes, output_annotation_dir, output_annotation_format, guidelines and assignment.")],
        seen_by_schema=True,
    ),
    Broken(
        "a key given twice deep down",
        VERDICT + (
            "      require_summary: true\n"
            "      require_summary: false\n"
            "      summary_min_length: 'long'\n"
        ),
        [(7, 7, "require_summary was already given on line 6. Remove one of the two."), (8, 27, 'summary_min_length must be a whole number from 0 to 5000. Found the text "long".')],
        seen_by_schema=True,
    ),
    Broken(
        "an anchor and an alias",
        (
            "task_name: &title X\n"
            "guidelines: *title\n"
        ),
        [(1, 12, "The anchor &title is not allowed. Remove it."), (2, 13, "The alias *title is not allowed. Write its value out.")],
        seen_by_schema=False,
    ),
    Broken(
        "a tag of a programming language",
        "task_name: !!python/object:os.system X\n",
        [(1, 12, "The tag !!python/object:os.system is not allowed. Remove it.")],
        seen_by_schema=False,
    ),
    Broken(
        "a tag of one's own",
        (
            "task_name: !title X\n"
            "guidelines: !!int many\n"
        ),
        [(1, 12, "The tag !title is not allowed. Remove it."), (2, 13, "many is not a valid int. Put quotes around it if it is text.")],
        seen_by_schema=False,
    ),
    Broken(
        "a set",
        (
            "task_name: X\n"
            "assignment: !!set { max_open }\n"
        ),
        [(2, 13, "The tag !!set is not allowed. Remove it.")],
        seen_by_schema=True,
    ),
    Broken(
        "two documents",
        (
            "task_name: X\n"
            "---\n"
            "task_name: Y\n"
        ),
        [(2, 1, "A configuration is one YAML document. Remove this line and everything after it.")],
        seen_by_schema=False,
    ),
    Broken(
        "a colon too many",
        "task_name: Review: part two\n",
        [(1, 18, "A key cannot stand here. Check the indentation, or put the text in quotes if it holds a colon.")],
        seen_by_schema=False,
    ),
    Broken(
        "a quotation mark that is not closed",
        (
            'task_name: "X\n'
            "task_dir: .\n"
        ),
        [(1, 12, "The quotation mark that opens here is never closed.")],
        seen_by_schema=False,
    ),
    Broken(
        "a bracket that is not closed",
        (
            "task_name: X\n"
            "data_files: [a.jsonl, b.jsonl\n"
        ),
        [(2, 13, "The list that opens here with [ needs a comma or a closing ].")],
        seen_by_schema=False,
    ),
    Broken(
        "a brace that is not closed",
        (
            "task_name: X\n"
            "assignment: { max_open: 1\n"
        ),
        [(2, 13, "The block that opens here with { needs a comma or a closing }.")],
        seen_by_schema=False,
    ),
    Broken(
        "an indentation that does not fit",
        (
            "task_name: X\n"
            "assignment:\n"
            "    max_open: 1\n"
            "  lease_minutes: 5\n"
        ),
        [(4, 3, "This line does not fit the lines above it. Check the indentation.")],
        seen_by_schema=False,
    ),
    Broken(
        "a tab",
        (
            "task_name: X\n"
            "assignment:\n"
            "\tmax_open: 1\n"
        ),
        [(3, 1, "Tabs cannot indent YAML. Use spaces.")],
        seen_by_schema=False,
    ),
    Broken(
        "a text that starts with an at sign",
        "task_name: @home\n",
        [(1, 12, "A text cannot start with @ here. Put it in quotes.")],
        seen_by_schema=False,
    ),
    Broken(
        "an escape that YAML does not know",
        'task_name: "C:\\dir"\n',
        [(1, 15, "This is not an escape that YAML knows. Write \\\\ for a backslash, or use single quotes.")],
        seen_by_schema=False,
    ),
    Broken(
        "a list entry in a block",
        (
            "task_name: X\n"
            "- a\n"
        ),
        [(2, 1, "This line does not fit the lines above it. Check the indentation.")],
        seen_by_schema=False,
    ),
    Broken(
        "a key without a colon",
        (
            "task_name: X\n"
            "task_dir\n"
            "guidelines: Y\n"
        ),
        [(3, 1, "A colon is missing after this key.")],
        seen_by_schema=False,
    ),
    Broken(
        "a list as a key",
        (
            "task_name: X\n"
            "? [a, b]\n"
            ": 1\n"
        ),
        [(2, 3, "A key must be plain text or a number.")],
        seen_by_schema=False,
    ),
    Broken(
        "a NUL",
        "task_name: X\u0000\n",
        [(1, 13, "The character U+0000 is not allowed in a configuration. Remove it.")],
        seen_by_schema=False,
    ),
    Broken(
        "a NUL as an escape",
        'task_name: "X\\0"\n',
        [(1, 12, "This text holds the character U+0000. Remove it.")],
        seen_by_schema=False,
    ),
    Broken(
        "half a character",
        "task_name: \ud800\n",
        [(1, 12, "The character U+D800 is not allowed in a configuration. Remove it.")],
        seen_by_schema=False,
    ),
    Broken(
        "a date that never was",
        "task_name: 2025-02-30\n",
        [(1, 12, "2025-02-30 is not a valid date. Put quotes around it if it is text.")],
        seen_by_schema=False,
    ),
    Broken(
        "a key that is null",
        (
            "task_name: X\n"
            "~: 1\n"
            "'': 2\n"
        ),
        [(2, 1, "~ is not a key of the configuration. Its keys are task_name, task_dir, data_files, item_properties, agentic, annotation_schemes, output_annotation_dir, output_annotation_format, guidelines and assignment."), (3, 1, "An empty text is not a key of the configuration. Its keys are task_name, task_dir, data_files, item_properties, agentic, annotation_schemes, output_annotation_dir, output_annotation_format, guidelines and assignment.")],
        seen_by_schema=True,
    ),
    Broken(
        "a merge",
        (
            "task_name: X\n"
            "assignment: { <<: { max_open: 2 } }\n"
        ),
        [(2, 15, "<< is not a key of assignment. Its keys are annotations_per_trace, lease_minutes and max_open.")],
        seen_by_schema=False,
    ),
]
