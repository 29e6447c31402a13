"""Two runs of one program beside each other, with a third in float64 as judge."""
import math

LOW = ("torch.float16", "torch.bfloat16")
MULTIPLE = 3.0  # as much farther from float64 than eager is a result may be


def close(want, got):
    import torch

    try:
        torch.testing.assert_close(got, want, equal_nan=True, check_device=False, check_stride=False)
        return True
    except AssertionError:
        return False


def gaps(want, got):
    """Absolute differences in float64; 0 where both are the same infinity or undefined, infinite where only one is."""
    import torch

    if not (want.is_floating_point() or want.is_complex()):
        return (want.to(torch.float64) - got.to(torch.float64)).abs()
    wide = torch.complex128 if want.is_complex() else torch.float64
    gap = (want.to(wide) - got.to(wide)).abs()
    alike = (want == got) | (torch.isnan(want) & torch.isnan(got))
    gap = torch.where(alike, torch.zeros_like(gap), gap)
    return torch.where(torch.isnan(gap), torch.full_like(gap, math.inf), gap)


def rms(tensor):
    return float(tensor.square().mean().sqrt()) if tensor.numel() else 0.0


def same_special(a, b):
    """NaN and infinities in the same places?"""
    import torch

    return all(torch.equal(test(a), test(b)) for test in (torch.isnan, torch.isposinf, torch.isneginf))


def share_of_rounding(dtype, coarse):
    """Difference that rounding may make, as a share of the results' size. `coarse`: with TF32 allowed."""
    return 1e-2 if dtype in LOW else 2e-3 if coarse else 1e-5


def is_rounding(want, got, exact, dtype, draws=False, coarse=False):
    """Whether a result beyond the tolerances is still no worse than eager's, seen from float64. Where random numbers were
    drawn, float64 is believed only if eager is near it: its numbers can be others."""
    import torch

    if want.is_complex():
        exact = torch.view_as_real(exact.to(torch.complex128)) if exact is not None and exact.is_complex() else None
        return is_rounding(torch.view_as_real(want), torch.view_as_real(got), exact, dtype, draws, coarse)
    if not want.is_floating_point():
        return flips_by_rounding(want, got, exact)
    share = share_of_rounding(dtype, coarse)
    if exact is not None and (exact.shape != want.shape or not exact.is_floating_point()):
        exact = None
    if exact is not None and draws and rms(gaps(want.double(), exact.double())) > 0.05 * rms(torch.nan_to_num(exact.double())):
        exact = None
    if not same_special(want, got) and (exact is None or same_special(want, exact)):
        return False
    parts = [want, got] + ([exact] if exact is not None else [])
    finite = torch.ones_like(want, dtype=torch.bool)
    for part in parts:
        finite &= torch.isfinite(part)
    zero = torch.zeros((), dtype=torch.float64, device=want.device)
    flat = [torch.where(finite, part.double(), zero) for part in parts]
    if exact is None:
        size = rms(flat[0])
        largest = float(flat[0].abs().max()) if want.numel() else 0.0
        return rms(flat[0] - flat[1]) <= share * size and float((flat[0] - flat[1]).abs().max()) <= 10 * share * largest
    of_eager, of_compiled = rms(flat[0] - flat[2]), rms(flat[1] - flat[2])
    return of_compiled <= MULTIPLE * of_eager + share * rms(flat[2])


def flips_by_rounding(want, got, exact):
    """Whether whole numbers differ only where eager mode's own are not those of float64."""
    if exact is None or exact.shape != want.shape or exact.is_floating_point() or exact.is_complex():
        return False
    return bool(((want == got) | (want != exact)).all())


class Comparison:
    """What differs between the records of two runs: `differences`, and `notes` of what is rounding only."""

    def __init__(self, coarse=False):
        self.coarse = coarse
        self.differences, self.notes = [], []
        self.error = None
        self.draws = False

    def differ(self, what, group, detail="", **more):
        self.differences.append(dict({"what": what, "group": group, "detail": detail}, **more))

    def python(self, what, want, got):
        a = want.get("python", want.get("python_type", "a tensor"))
        b = got.get("python", got.get("python_type", "a tensor"))
        if a != b and not (a != a and b != b):
            number = isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-5)
            if not number:
                self.differ(what, "value", "%r became %r" % (a, b))

    def tensor(self, what, want, got, exact):
        if any("value" not in shot for shot in (want, got)):
            self.python(what, want, got)
            return
        for key in ("shape", "dtype", "requires_grad"):
            if want[key] != got[key]:
                self.differ(what, key, "%s %s became %s" % (key, want[key], got[key]))
        if "alias" in want and want["alias"] != got.get("alias"):
            self.differ(what, "alias", "shares memory with arguments %s, compiled with %s" % (want["alias"], got.get("alias")))
        if want["value"] is None or got["value"] is None or want["shape"] != got["shape"]:
            return
        if want["stride"] != got["stride"]:
            self.notes.append({"what": what, "stride": "%s became %s" % (want["stride"], got["stride"])})
        self.values(what, want, got, exact)

    def values(self, what, want, got, exact):
        a, b = want["value"], got["value"]
        b = b.to(a.dtype) if a.dtype != b.dtype else b
        if close(a, b):
            return
        reference = exact["value"] if exact and exact.get("value") is not None else None
        gap = gaps(a, b)
        largest = float(gap.max())
        size = float(a.detach().abs().to(gap.dtype).nan_to_num(0, 0, 0).max())
        if is_rounding(a, b, reference, want["dtype"], self.draws, self.coarse):
            self.notes.append({"what": what, "rounding": largest})
            return
        limit = 1e-4 * a.abs().to(gap.dtype).nan_to_num(0, 0, 0) + 1e-6
        self.differ(what, "value", "", dtype=want["dtype"], max_abs_diff=largest, relative=largest / size if size else math.inf,
                    elements="%d of %d" % (int((gap > limit).sum()), a.numel()), fp64=reference is not None)

    def lists(self, what, want, got, exact):
        if len(want) != len(got):
            self.differ(what, "count", "%d became %d" % (len(want), len(got)))
            return
        exact = exact if exact and len(exact) == len(want) else [None] * len(want)
        for number, (a, b, e) in enumerate(zip(want, got, exact)):
            self.tensor("%s%d" % (what, number), a, b, e)

    def named(self, what, want, got, exact):
        others, judges = dict(got), dict(exact or [])
        for name, a in want:
            label, b = "%s %s" % (what, name), others.get(name)
            if a is None or b is None:
                if (a is None) != (b is None):
                    self.differ(label, "value", "only %s has one" % ("compiled" if a is None else "eager"))
            else:
                self.tensor(label, a, b, judges.get(name))

    def call(self, prefix, want, got, exact):
        """One call. Returns whether the next is worth a look."""
        self.draws = want["draws"]
        if want["raised"] or got["raised"]:
            if got["raised"] and not want["raised"]:
                self.error = got["raised"]
            elif not got["raised"]:
                self.differ(prefix + "eager raises", "raises", "%s: %s" % (want["raised"]["type"], want["raised"]["message"]))
            return bool(want["raised"] and got["raised"])
        exact = exact or {}
        before = len(self.differences)
        self.lists(prefix + "out", want["outputs"], got["outputs"], exact.get("outputs"))
        self.lists(prefix + "input", want["inputs"], got["inputs"], exact.get("inputs"))
        self.named(prefix + "state", want["state"], got["state"], exact.get("state"))
        self.named(prefix + "grad", want["grads"], got["grads"], exact.get("grads"))
        return len(self.differences) == before or not prefix

    def verdict(self):
        found = {"differences": self.differences[:12], "notes": self.notes[:12]}
        if self.error:
            return dict(found, status="error", error=self.error)
        return dict(found, status="different" if self.differences else "ok")


def compare(wanted, given, exact, coarse=False):
    """{status: ok, different or error, differences, notes, error}: what the second run has otherwise than the first."""
    comparison = Comparison(coarse)
    for number, (want, got) in enumerate(zip(wanted, given)):
        judge = exact[number] if exact and number < len(exact) and not exact[number]["raised"] else None
        comparison.call("" if number == 0 else "call%d " % number, want, got, judge)
        if comparison.error:
            break
    if len(wanted) != len(given) and not comparison.error:
        comparison.differ("calls", "count", "%d became %d" % (len(wanted), len(given)))
    return comparison.verdict()
