"""What several groups of cases use."""

import re


def set_field(text, field, value, count=1):
    text, found = re.subn(rf"^{field} = [^#\n]*", f"{field} = {value}", text, count=count, flags=re.M)
    if found == 0:
        raise SystemExit(f"validation/run: the scene has no field {field}")
    return text


def plots():
    import matplotlib

    matplotlib.use("Agg")
    # The same run gives the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "drystone", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    import matplotlib.pyplot

    return matplotlib.pyplot


def save(figure, file):
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
