"""What PyTorch gives for forms of calls: answer_forms.py FORMS.jsonl ANSWERS.jsonl.gz

FORMS has the tensors in its first line ({"tensors": {name: {"t": dtype, "s": sizes, "v": numbers}}}), then one form a line
({"n": number, "text": "torch.std(a, 1)"}). The answer to each is one line: {"n", "result"} with dtype, sizes, strides and
values (48 of them at most, evenly apart), {"changed"} with inputs that differ after it, or {"error": "TypeError: ..."}.
Every form runs on fresh copies, in a process that may die or hang without loss of the others. Needs torch alone.
"""
import gzip, json, math, os, signal, sys, warnings
import torch
warnings.filterwarnings("ignore")
torch.set_num_threads(2)

def made(row):
    kind = getattr(torch, row["t"])
    if row["t"].startswith("complex"):
        return torch.view_as_complex(torch.tensor(row["v"], dtype=torch.float32).view(row["s"] + [2])).clone()
    numbers = [float(x) if isinstance(x, str) else x for x in row["v"]]
    return torch.tensor(numbers, dtype=torch.float64 if kind.is_floating_point else torch.int64).view(row["s"]).to(kind)

def number(x):
    if isinstance(x, float): return float(f"{x:.7g}") if math.isfinite(x) else repr(x)
    return x

def plain(v):
    if isinstance(v, torch.Tensor):
        if v.layout != torch.strided or v.is_quantized: return {"p": str(v.layout)}
        u = v.detach()
        row = {"t": str(u.dtype)[6:], "s": list(u.shape), "st": list(u.stride())}
        if u.is_complex(): u = torch.view_as_real(u.resolve_conj().contiguous())
        flat = u.resolve_neg().flatten() if hasattr(u, "resolve_neg") else u.flatten()
        step = max(1, -(-flat.numel() // 48))
        if step > 1: row["e"] = step
        row["v"] = [number(x) for x in flat[::step].tolist()]
        return row
    if isinstance(v, (list, tuple)): return [plain(x) for x in v]
    if isinstance(v, (bool, int, str)) or v is None: return v
    if isinstance(v, float): return number(v)
    return {"p": str(v)[:80]}

def differs(a, b):
    if a.shape != b.shape or a.dtype != b.dtype: return True
    return not torch.equal(torch.nan_to_num(torch.view_as_real(a) if a.is_complex() else a.double()), torch.nan_to_num(torch.view_as_real(b) if b.is_complex() else b.double()))

def answer(row, tensors):
    env = {k: v.clone() for k, v in tensors.items()}
    names = {"torch": torch, **env}
    torch.manual_seed(0)
    try:
        if row["text"].startswith("SET "):
            exec(row["text"][4:], names); result = env["a"]
        else:
            result = eval(row["text"], names)
        given = {"n": row["n"], "result": plain(result)}
        changed = {k: plain(env[k]) for k in tensors if differs(env[k], tensors[k])}
        if changed: given["changed"] = changed
        return given
    except Exception as error:
        return {"n": row["n"], "error": type(error).__name__ + ": " + " ".join(str(error).split())[:120]}

def main(forms, out):
    with open(forms) as file:
        tensors = {k: made(v) for k, v in json.loads(next(file))["tensors"].items()}
        rows = [json.loads(line) for line in file]
    at, lines = 0, [json.dumps({"torch": torch.__version__})]
    while at < len(rows):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            for row in rows[at:at + 500]:
                signal.alarm(20)
                os.write(write, (json.dumps(answer(row, tensors), separators=(",", ":")) + "\n").encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as given: done = given.read().splitlines()
        _, status = os.waitpid(child, 0)
        whole = []
        for line in done:
            try: json.loads(line); whole.append(line)
            except ValueError: break
        lines += whole; at += len(whole)
        if status != 0 and at < len(rows):
            lines.append(json.dumps({"n": rows[at]["n"], "error": f"Died: status {status}"})); at += 1
        print(at, "of", len(rows), flush=True)
    with gzip.open(out, "wt") as file: file.write("\n".join(lines) + "\n")

main(sys.argv[1], sys.argv[2])
