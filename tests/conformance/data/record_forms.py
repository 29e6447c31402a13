"""Records calls of PyTorch's Python functions in their documented forms: record_forms.py OUT_FOLDER

Writes python_forms.jsonl.gz: the tensors by name, then for each form its Python text, the graph that Dynamo made of it, and
what PyTorch gave; for what PyTorch refuses the same call as a graph, and the error. Each form runs on fresh copies of the
inputs; values of results have seven digits.
"""
import json, math, operator, sys, warnings
import torch, torch.nn.functional as F
warnings.filterwarnings("ignore")

T = {}
def t(name, *shape, kind="f", seed=0):
    g = torch.Generator().manual_seed(seed + len(T) * 7)
    if kind == "f": v = torch.randn(shape, generator=g)
    elif kind == "p": v = torch.rand(shape, generator=g) * 0.8 + 0.1
    elif kind == "i": v = torch.randint(0, 4, shape, generator=g)
    elif kind == "b": v = torch.rand(shape, generator=g) > 0.5
    elif kind == "c": v = torch.complex(torch.randn(shape, generator=g), torch.randn(shape, generator=g))
    T[name] = v
t("a", 3, 4); t("b", 3, 4); t("p", 3, 4, kind="p"); t("q", 3, 4, kind="p"); t("v", 4); t("w", 4); t("s"); t("z", 4, 4)
t("c", 2, 3, 4); t("d", 2, 4, 5); t("e", 2, 3, 4, 5); t("i", 3, 4, kind="i"); t("j", 4, kind="i"); t("k", 3, kind="i")
t("m", 3, 4, kind="b"); t("n", 4, kind="b"); t("x", 2, 4, 6, 6); t("y", 2, 4, 8); t("u", 2, 2, 4, 4, 4); t("cc", 3, 3, kind="c")
t("k2", 4, 4, 3, 3); t("k1", 4, 4, 3); t("k2e", 4, 4, 2, 2); t("gr", 2, 3, 3, 2); t("th", 2, 2, 3); t("lg", 3, 5); t("tb", 3, 5, kind="p")
t("ti", 3, kind="i"); t("l3", 2, 5, 3); t("t3", 2, 3, kind="i"); t("em", 6, 4); t("q3", 2, 3, 4); t("q4", 2, 2, 3, 4); t("pm", 3, 5, kind="p")
T["pn"] = (T["lg"] > 0).float() * 2 - 1
T["p1"] = T["pn"][:, 0].clone()

S = []
def s(*texts):
    for text in texts: S.append(text)

RED = ["", "0", "1", "-1", "dim=0", "axis=1", "(0, 1)", "[1]", "dim=(0,)", "0, True", "1, keepdim=True", "dim=1, keepdims=True", "-1, False"]
for f in ["sum", "mean", "prod", "amax", "amin", "nansum", "nanmean", "logsumexp", "std", "var", "all", "any", "argmax", "argmin",
          "max", "min", "median", "nanmedian", "mode", "cumsum", "cumprod", "softmax", "log_softmax", "count_nonzero", "norm", "sort", "argsort", "aminmax"]:
    for r in RED:
        s(f"torch.{f}(a, {r})" if r else f"torch.{f}(a)", f"a.{f}({r})")
for f in ["std", "var"]:
    for r in ["False", "True", "unbiased=False", "1, False", "1, True, True", "dim=1, unbiased=False", "dim=1, correction=0", "correction=2",
              "1, correction=0, keepdim=True", "None", "None, unbiased=False", "(0, 1), False", "[0], True, keepdim=True", "0, keepdim=True", "1, False, False"]:
        s(f"torch.{f}(a, {r})", f"a.{f}({r})", f"torch.{f}_mean(a, {r})")
s("torch.var_mean(a)", "torch.std_mean(a, 0)", "torch.sum(input=a, dim=0)", "torch.sum(a, dtype=torch.float64)", "a.sum(1, dtype=torch.float64)", "torch.mean(x=a, axis=0)",
  "torch.prod(a, 1, dtype=torch.float64)", "torch.sum(i)", "torch.sum(m)", "i.sum(0)", "m.sum(1)", "i.cumsum(1)", "torch.max(a, b)", "torch.min(a, b)", "torch.max(a, other=b)",
  "torch.max(a, 1).values", "torch.max(a, dim=1).indices", "a.min(0)[1]", "torch.sort(a, 1, True)", "torch.sort(a, descending=True)", "a.sort(0, descending=True)[0]",
  "torch.sort(a, stable=True, dim=0)", "torch.topk(a, 2)", "torch.topk(a, 2, 0)", "a.topk(2, dim=1, largest=False)", "a.topk(k=1, dim=0, largest=True, sorted=True)",
  "torch.kthvalue(a, 2)", "a.kthvalue(1, 0, True)", "torch.quantile(a, 0.5)", "torch.quantile(a, 0.5, 1)", "torch.quantile(a, 0.25, dim=0, keepdim=True)", "torch.quantile(a, torch.tensor([0.1, 0.9]), 1)",
  "torch.quantile(a, 0.3, 1, interpolation='nearest')", "a.norm(1)", "a.norm(2, 1)", "a.norm(p=1, dim=0)", "a.norm(p='fro')", "a.norm('nuc')", "a.norm(dim=1)", "a.norm(math.inf, 1, True)", "torch.norm(a, 3, (0, 1))",
  "torch.norm(a, p='fro', dim=(0, 1))", "torch.norm(a, dim=-1, keepdim=True, dtype=torch.float64)", "torch.norm(a, 0.5)")
BIN = ["a, b", "a, 2", "a, 2.5", "2, a", "a, s", "i, 2", "i, i", "i, 2.5", "a, v", "i, a", "m, a", "a, True", "m, 2", "m, m"]
for f in ["add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "fmod", "pow", "atan2", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge",
          "hypot", "copysign", "logaddexp", "xlogy", "float_power", "fmax", "heaviside", "rsub", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "ldexp", "nextafter", "dist", "equal", "allclose", "isclose"]:
    for r in BIN:
        s(f"torch.{f}({r})")
        l, rr = r.split(", ")
        if l in T: s(f"{l}.{f}({rr})")
for op in ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "<<", ">>", "@"]:
    for l, r in [("a", "b"), ("a", "2"), ("2", "a"), ("a", "2.5"), ("2.5", "a"), ("i", "2"), ("2", "i"), ("i", "i"), ("i", "2.5"), ("3.5", "i"), ("m", "m"), ("m", "2"), ("m", "True"), ("True", "m"), ("a", "s"), ("a", "v"), ("z", "v"), ("v", "w"), ("z", "z"), ("i", "m")]:
        s(f"{l} {op} {r}")
s("-a", "~m", "~i", "abs(a)", "+a", "a.neg()", "operator.neg(a)", "operator.inv(i)", "operator.pos(a)", "a.add(b, alpha=2)", "torch.add(a, b, alpha=0.5)", "torch.add(a, 2, b)", "a.add(2, b)", "torch.sub(a, b, alpha=2)",
  "torch.sub(a, 3, b)", "torch.rsub(a, b, alpha=2)", "torch.add(input=a, other=b)", "torch.add(a, x2=b)", "torch.add(x1=a, x2=b)", "torch.mul(other=b, input=a)", "torch.div(a, b, rounding_mode='floor')", "a.div(2, rounding_mode='trunc')", "torch.divide(i, 2)",
  "torch.div(i, 2, rounding_mode='floor')", "torch.addmm(z, z, z)", "torch.addmm(z, z, z, beta=2, alpha=3)", "torch.addmm(2, z, 3, z, z)", "torch.addmm(2, z, z, z)", "z.addmm(z, z, alpha=2)", "torch.addmv(v, z, w, beta=0.5)", "torch.addr(z, v, w, alpha=2)", "torch.baddbmm(c[:, :, :3], c, c.mT, beta=2)",
  "torch.addcmul(a, a, b, value=2)", "torch.addcmul(a, 2, a, b)", "torch.addcdiv(a, a, p, value=0.5)", "torch.lerp(a, b, 0.3)", "torch.lerp(a, b, p)", "a.lerp(b, weight=0.7)", "torch.where(m, a, b)", "torch.where(m, a, 0.0)", "torch.where(m, 1.0, a)", "torch.where(m, 1, 0)", "torch.where(m, 1.5, 2)", "torch.where(m, i, a)", "a.where(m, b)", "a.where(m, 0)", "torch.where(m)", "torch.where(condition=m, input=a, other=b)",
  "torch.clamp(a, 0)", "torch.clamp(a, max=0.5)", "torch.clamp(a, -0.5, 0.5)", "a.clamp(min=b)", "a.clamp(None, 0.3)", "torch.clamp(a, min=b, max=p)", "a.clip(-1, 1)", "torch.clamp_min(a, 0)", "a.clamp_max(b)", "torch.clamp(i, 0.5)", "torch.clamp(i, 1, 2)",
  "torch.round(a, decimals=1)", "a.round()", "a.round(decimals=2)", "torch.nan_to_num(a, 0.0)", "torch.logit(p, 0.2)", "torch.logit(p)", "a.sigmoid()", "torch.special.expit(a)", "torch.special.logsumexp(a, 1)", "torch.special.softmax(a, 1)", "torch.special.xlogy(a, p)", "torch.special.polygamma(1, p)", "torch.polygamma(2, p)", "p.polygamma(1)", "torch.special.multigammaln(p + 2, 2)", "torch.mvlgamma(p + 2, 2)", "torch.special.zeta(p + 1, 2)", "torch.special.log_softmax(a, 0)", "torch.special.round(a, decimals=1)", "torch.special.i0e(a)", "torch.special.gammainc(p, q)")
SH = ["a.view(12)", "a.view(4, 3)", "a.view((4, 3))", "a.view([2, -1])", "a.view(-1)", "a.view(torch.int32)", "a.reshape(2, 6)", "a.reshape((2, 6))", "a.reshape(shape=(6, 2))", "torch.reshape(a, (12,))", "a.view(size=(6, 2))", "c.permute(2, 0, 1)", "c.permute((2, 0, 1))", "c.permute(dims=(1, 0, 2))", "torch.permute(c, (1, 2, 0))", "a.t()", "a.T", "c.mT", "a.H", "c.mH", "cc.H", "cc.mH", "cc.real", "cc.imag", "a.real",
      "c.transpose(0, 1)", "torch.transpose(c, dim0=0, dim1=2)", "c.transpose(-1, -2)", "c.swapaxes(0, 1)", "torch.swapdims(c, 0, 2)", "c.movedim(0, 2)", "c.movedim((0, 1), (1, 2))", "torch.moveaxis(c, 0, -1)", "a.unsqueeze(0)", "a.unsqueeze(-1)", "torch.unsqueeze(a, dim=1)", "a[None]", "a.unsqueeze(1).squeeze()", "a.unsqueeze(1).squeeze(1)", "a.unsqueeze(1).squeeze(dim=(1,))", "a.unsqueeze(0).unsqueeze(0).squeeze((0, 1))", "a.squeeze(0)",
      "v.expand(3, 4)", "v.expand((3, 4))", "v.expand(3, -1)", "v.expand(size=(2, 4))", "v.expand_as(a)", "v.repeat(2)", "v.repeat(2, 3)", "v.repeat((2, 1))", "a.tile(2)", "a.tile((2, 1))", "torch.tile(v, (2, 2))", "a.repeat_interleave(2)", "a.repeat_interleave(2, 1)", "torch.repeat_interleave(a, 2, dim=0)", "torch.repeat_interleave(v, j)", "a.repeat_interleave(torch.tensor([1, 0, 2]), 0)", "a.flatten()", "c.flatten(1)", "c.flatten(0, 1)", "c.flatten(start_dim=1, end_dim=2)", "torch.flatten(c, 1)", "a.unflatten(1, (2, 2))", "a.unflatten(1, [2, -1])", "a.unflatten(dim=1, sizes=(2, 2))", "torch.unflatten(a, 1, (2, 2))", "a.ravel()",
      "a.flip(0)", "a.flip(0, 1)", "a.flip((0, 1))", "a.flip(dims=[1])", "torch.flip(a, (1,))", "a.fliplr()", "a.roll(1)", "a.roll(1, 0)", "a.roll((1, 2), (0, 1))", "torch.roll(a, shifts=2, dims=1)", "a.rot90()", "torch.rot90(a, 1, (0, 1))", "a.rot90(2, [0, 1])", "torch.chunk(a, 2)", "a.chunk(2, 1)", "a.chunk(chunks=2, dim=-1)", "a.split(2)", "a.split(1, 0)", "a.split([1, 3], 1)", "torch.split(a, 2, dim=1)", "torch.split(a, [1, 2])", "a.split(split_size=3, dim=1)", "torch.tensor_split(a, 2)", "torch.tensor_split(a, (1, 2), dim=1)", "a.tensor_split(3, 1)", "a.tensor_split(indices=[1], dim=0)", "torch.hsplit(a, 2)", "a.vsplit([1])", "a.unbind()", "a.unbind(1)", "torch.unbind(a, dim=1)",
      "torch.cat([a, b])", "torch.cat((a, b), 1)", "torch.cat([a, b], dim=-1)", "torch.cat(tensors=[a, b], axis=1)", "torch.concat([a, b])", "torch.stack([a, b])", "torch.stack((a, b), 2)", "torch.stack(tensors=(a, b), dim=-1)", "torch.hstack([v, w])", "torch.vstack([v, w])", "torch.dstack([a, b])", "torch.column_stack([v, w])", "torch.block_diag(a, b)", "torch.cartesian_prod(v, w)", "torch.combinations(v)", "torch.combinations(v, 2, True)", "torch.broadcast_tensors(a, v)", "torch.broadcast_to(v, (3, 4))", "torch.atleast_1d(s)", "torch.atleast_2d(v, s)", "torch.atleast_3d(a)", "torch.meshgrid(v, w)", "torch.meshgrid(v, w, indexing='xy')", "torch.meshgrid([v, w], indexing='ij')",
      "a.narrow(1, 1, 2)", "torch.narrow(a, 0, 1, 2)", "a.select(0, 1)", "torch.select(a, dim=1, index=-1)", "a.unfold(1, 2, 1)", "a.unfold(dimension=1, size=2, step=2)", "a.diagonal()", "torch.diagonal(c, 1, 1, 2)", "c.diagonal(offset=-1, dim1=0, dim2=2)", "torch.diag(v)", "torch.diag(a, 1)", "torch.diag_embed(v)", "v.diag_embed(1)", "torch.diagflat(v)", "torch.tril(a)", "a.tril(-1)", "torch.triu(a, 1)", "a.triu(diagonal=-1)", "torch.as_strided(a, (2, 2), (1, 2))", "a.as_strided((2, 2), (1, 2), 1)", "torch.gather(a, 1, i)", "a.gather(dim=1, index=i)", "torch.gather(a, axis=1, index=i)", "torch.take(a, j)", "a.take(i)", "torch.take_along_dim(a, i, 1)", "torch.take_along_dim(a, j)", "a.index_select(0, torch.tensor([2, 0]))", "torch.index_select(a, 1, torch.tensor([1, 1]))", "a.masked_select(m)", "torch.masked_select(a, m)", "a.masked_fill(m, 0)", "a.masked_fill(m, s)", "torch.masked_fill(a, m, value=2.5)", "a.masked_scatter(m, b)",
      "a.scatter(1, i, b)", "a.scatter(1, i, 2.0)", "torch.scatter(a, dim=1, index=i, src=b)", "torch.scatter(a, 1, i, value=1.5)", "a.scatter(1, i, b, reduce='add')", "a.scatter_add(1, i, b)", "a.scatter_reduce(1, i, b, 'sum')", "a.scatter_reduce(1, i, b, reduce='amax', include_self=False)", "a.index_add(0, torch.tensor([0, 2]), b[:2])", "a.index_add(0, torch.tensor([0, 2]), b[:2], alpha=2)", "a.index_copy(1, torch.tensor([0, 2]), b[:, :2])", "a.index_fill(1, torch.tensor([0, 2]), 3)", "a.index_put((torch.tensor([0, 1]),), torch.tensor(5.0))", "a.index_put([torch.tensor([0, 1]), torch.tensor([0, 1])], torch.tensor([5.0, 6.0]), accumulate=True)", "torch.searchsorted(torch.arange(4.0), a)", "torch.searchsorted(torch.arange(4.0), a, right=True)", "torch.bucketize(a, torch.arange(4.0))", "torch.bucketize(a, boundaries=torch.arange(4.0), right=True)", "torch.searchsorted(torch.arange(4.0), 1.5)", "torch.isin(i, j)", "torch.isin(i, 2)", "torch.isin(elements=i, test_elements=j, invert=True)", "torch.unique(i)", "torch.unique(i, return_counts=True)", "i.unique(True, True)", "torch.unique(i, dim=0)", "torch.unique(i, return_inverse=True, return_counts=True, dim=1)", "torch.unique_consecutive(j)", "torch.unique_consecutive(j, True)", "torch.bincount(j)", "torch.bincount(j, v)", "torch.bincount(j, minlength=6)", "torch.histc(a, 4)", "torch.histc(a, bins=4, min=-1, max=1)", "torch.nonzero(m)", "torch.nonzero(m, as_tuple=True)", "m.nonzero()", "torch.argwhere(m)", "torch.diff(a)", "torch.diff(a, 2, 1)", "a.diff(n=1, dim=0)", "torch.trapezoid(a)", "torch.trapezoid(a, dx=0.5)", "torch.cummax(a, 1)", "a.cummin(0)", "torch.logcumsumexp(a, 1)", "torch.cross(c[:, :, :3], c[:, :, 1:], 2)", "torch.cross(a[:, :3], b[:, :3])", "torch.linalg.cross(a[:, :3], b[:, :3])", "torch.renorm(a, 2, 0, 1.0)", "torch.cov(a)", "torch.cov(a, correction=0)", "torch.corrcoef(a)", "torch.vander(v)", "torch.vander(v, N=3, increasing=True)", "torch.cdist(a, b)", "torch.cdist(a, b, 1)", "torch.cdist(a, b, p=2.0, compute_mode='donot_use_mm_for_euclid_dist')", "torch.dist(a, b, 1)", "torch.kron(v, w)", "torch.outer(v, w)", "torch.dot(v, w)", "torch.inner(a, b)", "torch.mv(z, v)", "torch.bmm(c, c.mT)", "torch.matmul(a, v)", "a.matmul(z)", "torch.mm(a, z)", "torch.chain_matmul(a, z, z)", "torch.linalg.multi_dot([a, z, z])", "torch.einsum('ij,kj->ik', a, b)", "torch.einsum('ij,kj->ik', [a, b])", "torch.einsum('...j,j', c, v)", "torch.einsum(a, [0, 1], b, [2, 1], [0, 2])", "torch.einsum(a, [0, 1], b, [0, 1])", "torch.einsum('ii', z)", "torch.tensordot(a, b, dims=2)", "torch.tensordot(a, z, 1)", "torch.tensordot(a, b, dims=([1], [1]))", "torch.tensordot(c, d, ([0, 2], [0, 1]))", "torch.trace(z)", "z.trace()", "torch.matrix_power(z, 2)", "torch.nanquantile(a, 0.5, 1)"]
s(*SH)
IDX = ["0", "-1", "0, 1", "1:", "::2", "..., 0", "None", "None, 1", ":, None", "[0, 2]", "[[0, 1], [1, 0]]", "[0, 1], [1, 2]", "[True, False, True]", "True", "False", "m", "m[:, 0]", "torch.tensor([0, 2])", "torch.tensor(1)", ":, torch.tensor([0, 2])", "torch.tensor([[0, 1]]), 1", "..., None", "1:3, [0, 2]", "0, [1, 2]", "[1, 2], 0", "None, [0, 2]", "True, 0", ":, n", "i[0, 0]", "()", "slice(0, 2)", "(0, 2)", "(slice(None), 1)", "-2:, -1:", "torch.tensor([0, 2]), None, torch.tensor([1, 1])", "torch.tensor([0, 1]), :, None", "...,", "0:0", "[]", "torch.tensor([], dtype=torch.long)", "None, None, ..., 2", ":, ::3", "..., 1:3", "[0], [1]", "[[0]]", "([0, 1], [2, 3])", "1, ..., 2"]
for ix in IDX:
    s(f"a[{ix}]")
    s(f"SET a[{ix}] = 7.5")
    s(f"SET a[{ix}] = torch.tensor(2)")
for ix, val in [("0", "v"), ("0", "v[None]"), (":, 1", "k"), ("m", "s"), ("[0, 2]", "b[:2]"), ("[0, 2]", "v"), (":, [0, 1]", "b[:, :2]"), ("..., 0", "k.float()"), ("1:", "b[:2]"), ("m", "7"), ("0", "j"), ("None, 0", "v"), ("0, 0", "s"), ("m[:, 0]", "v"), ("i[:, 0]", "b"), ("torch.tensor([0, 2]), 1", "v[:2]"), ("True", "b"), ("0", "3")]:
    s(f"SET a[{ix}] = {val}")
CR = ["torch.zeros(3)", "torch.zeros(2, 3)", "torch.zeros((2, 3))", "torch.zeros([2], dtype=torch.int64)", "torch.zeros(size=(2, 2))", "torch.ones(2, 3)", "torch.ones((2,), dtype=torch.bool)", "torch.full((2, 3), 1.5)", "torch.full([2], 3)", "torch.full((2,), True)", "torch.full(size=(2,), fill_value=2, dtype=torch.float32)", "torch.full((), 2.0)", "torch.zeros_like(a)", "torch.ones_like(i)", "torch.full_like(a, 2)", "torch.full_like(i, 2.7)", "torch.zeros_like(a, dtype=torch.int32)", "a.new_zeros(2, 3)", "a.new_zeros((2, 3))", "a.new_ones(2)", "a.new_ones((2,), dtype=torch.int64)", "a.new_full((2,), 3)", "i.new_full((2,), 3)", "a.new_tensor([1, 2])", "i.new_tensor([1.7, 2.2])", "a.new_tensor(3)", "torch.arange(5)", "torch.arange(5.0)", "torch.arange(1, 5)", "torch.arange(1, 5, 2)", "torch.arange(start=1, end=4)", "torch.arange(0, 1, 0.25)", "torch.arange(5, dtype=torch.float32)", "torch.arange(end=3)", "torch.arange(3, 0, -1)", "torch.linspace(0, 1, 5)", "torch.linspace(start=0, end=2, steps=3)", "torch.logspace(0, 2, 3)", "torch.eye(3)", "torch.eye(2, 3)", "torch.eye(n=2, m=4, dtype=torch.int64)", "torch.tensor(3)", "torch.tensor(3.5)", "torch.tensor([1, 2])", "torch.tensor([1.0, 2])", "torch.tensor([[1, 2], [3, 4]])", "torch.tensor([True, False])", "torch.tensor([True, 2])", "torch.tensor([])", "torch.tensor([1, 2], dtype=torch.float32)", "torch.tensor(2, dtype=torch.bool)", "torch.tensor([s, s])", "torch.tensor(s)", "torch.as_tensor([1, 2])", "torch.as_tensor(a)", "torch.as_tensor(a, dtype=torch.float64)", "torch.as_tensor(2.5)", "torch.asarray([1.5])", "torch.scalar_tensor(3)", "torch.scalar_tensor(3, dtype=torch.int64)", "torch.tril_indices(3, 3)", "torch.triu_indices(3, 4, 1)", "torch.hann_window(4)", "torch.hamming_window(4, False)", "torch.blackman_window(5, periodic=True)", "torch.complex(a, b)", "torch.polar(p, a)", "a.to(torch.float64)", "a.to(torch.int32)", "a.to('cpu')", "a.to('cpu', torch.float16)", "a.to(i)", "a.to(dtype=torch.bool)", "a.to(device='cpu', dtype=torch.float64, copy=True)", "a.to(torch.float64, True)", "a.to(torch.device('cpu'))", "a.to(other=i)", "a.type(torch.int64)", "a.type_as(i)", "a.float()", "a.double()", "a.half()", "a.int()", "i.float()", "a.bool()", "i.byte()", "a.bfloat16()", "a.type(torch.float16)", "i.to(a.dtype)", "a.size()", "a.size(1)", "a.size(dim=0)", "a.size(-1)", "a.shape", "a.shape[1]", "a.stride()", "a.stride(0)", "a.dim()", "a.ndim", "a.numel()", "a.nelement()", "len(a)", "a.is_floating_point()", "i.is_floating_point()", "torch.is_tensor(a)", "torch.is_complex(cc)", "a.is_contiguous()", "a.element_size()", "a.storage_offset()", "s.item()", "i[0, 0].item()", "m[0, 0].item()", "a.dtype", "a.contiguous()", "a.clone()", "a.detach()", "a.T.contiguous()", "x.contiguous(memory_format=torch.channels_last)", "torch.numel(a)", "a.nbytes", "a.itemsize", "a.is_leaf", "a.data", "bool(s > 0)", "float(s)", "int(i[0, 0])", "a.tolist()", "torch.result_type(a, 2)", "torch.promote_types(torch.int32, torch.float32)", "torch.can_cast(torch.double, torch.float)", "torch.finfo(torch.float32).eps"]
s(*CR)
FN = []
for f in ["relu", "relu6", "elu", "selu", "celu", "leaky_relu", "hardtanh", "hardswish", "hardsigmoid", "silu", "mish", "gelu", "softplus", "softsign", "tanhshrink", "softshrink", "hardshrink", "logsigmoid", "sigmoid", "tanh", "softmin"]:
    FN.append(f"F.{f}(a)")
for f in ["relu", "relu6", "selu", "hardswish", "hardsigmoid", "silu", "mish"]:
    FN += [f"F.{f}(a, False)", f"F.{f}(a, inplace=False)", f"F.{f}(a, True)", f"F.{f}(a.clone(), inplace=True)"]
FN += ["F.elu(a, 1.0, False)", "F.elu(a, 0.5)", "F.elu(a, alpha=2.0, inplace=False)", "F.elu(a, 0.7, True)", "F.celu(a, 0.5, False)", "F.celu(a, alpha=1.5)", "F.leaky_relu(a, 0.2)", "F.leaky_relu(a, 0.2, True)", "F.leaky_relu(a, negative_slope=0.3, inplace=False)", "F.hardtanh(a, -0.5, 0.5)", "F.hardtanh(a, -0.5, 0.5, False)", "F.hardtanh(a, min_val=-0.2, max_val=0.1, inplace=True)", "F.threshold(a, 0.1, 20)", "F.threshold(a, 0.1, 20, False)", "F.threshold(a, threshold=0.1, value=-1, inplace=True)", "F.rrelu(a)", "F.rrelu(a, 0.1, 0.3, False)", "F.rrelu(a, 0.2, 0.2, False, True)", "F.gelu(a, approximate='tanh')", "F.softplus(a, 2)", "F.softplus(a, beta=2, threshold=1)", "F.softplus(a, 1, 20)", "F.softshrink(a, 0.2)", "F.hardshrink(a, 0.2)", "F.hardshrink(a, lambd=0.3)", "F.glu(a)", "F.glu(a, 1)", "F.glu(a, dim=-1)", "F.prelu(a, torch.tensor([0.3]))", "F.prelu(a, v)", "torch.prelu(a, v)", "F.softmax(a, 0)", "F.softmax(a, dim=-1)", "F.softmax(a, 1, dtype=torch.float64)", "F.softmax(a)", "F.softmax(c)", "F.softmax(e)", "F.log_softmax(a, 1)", "F.log_softmax(a, dim=0, dtype=torch.float64)", "F.log_softmax(c)", "F.softmin(a, 1)", "F.softmin(a, dim=0)", "F.softmax(a, 1, 3, torch.float64)", "torch.softmax(a, 1)", "torch.softmax(a, dim=0, dtype=torch.float64)", "a.softmax(-1)", "a.log_softmax(dim=1)", "F.normalize(a)", "F.normalize(a, 1)", "F.normalize(a, p=1, dim=0)", "F.normalize(a, 2.0, -1)", "F.normalize(a, p=3, dim=(0, 1))", "F.normalize(a, dim=0, eps=10.0)", "F.layer_norm(a, (4,))", "F.layer_norm(a, [4], v, w)", "F.layer_norm(a, (4,), weight=v)", "F.layer_norm(a, (3, 4), eps=0.1)", "F.layer_norm(a, normalized_shape=(4,), bias=w)", "torch.layer_norm(a, (4,), v, w, 1e-3)", "F.rms_norm(a, (4,))", "F.rms_norm(a, [4], v)", "F.rms_norm(a, (4,), weight=v, eps=0.1)", "torch.rms_norm(a, (4,), v)", "F.group_norm(x, 2)", "F.group_norm(x, 2, v, w)", "F.group_norm(x, num_groups=4, weight=v, eps=0.1)", "torch.group_norm(x, 2, v, w, 1e-3)", "F.batch_norm(x, torch.zeros(4), torch.ones(4))", "F.batch_norm(x, v, w.abs(), w, v)", "F.batch_norm(x, v, w.abs(), w, v, False, 0.2, 0.01)", "F.batch_norm(x, None, None, training=True)", "F.batch_norm(x, None, None, v, w, True, 0.1, 0.01)", "F.batch_norm(x, v, w.abs(), training=True)", "torch.batch_norm(x, w, v, v, w.abs(), False, 0.1, 1e-5, False)", "F.instance_norm(x)", "F.instance_norm(x, weight=v, bias=w)", "F.instance_norm(x, None, None, v, w, True, 0.1, 0.01)", "F.instance_norm(x, v, w.abs(), use_input_stats=False)", "F.local_response_norm(x, 2)", "F.local_response_norm(y, 3, 0.1, 0.5, 2.0)", "F.local_response_norm(x, size=3, alpha=0.5)", "F.local_response_norm(u, 2)", "F.dropout(a, 0.5, False)", "F.dropout(a, training=False)", "F.dropout(a, p=0.0)", "F.dropout1d(y, 0.5, False)", "F.dropout2d(x, 0.3, False)", "F.dropout3d(u, training=False)", "F.alpha_dropout(a)", "F.alpha_dropout(a, 0.5, False)", "F.feature_alpha_dropout(x, 0.5)", "torch.dropout(a, 0.5, False)", "F.dropout(a, 1.0, True)", "F.dropout2d(x, 1.0)"]
for l in ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "kl_div", "poisson_nll_loss", "binary_cross_entropy_with_logits", "hinge_embedding_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss"]:
    A, B = {"soft_margin_loss": ("lg", "pn"), "kl_div": ("lg", "tb"), "binary_cross_entropy_with_logits": ("lg", "tb"), "hinge_embedding_loss": ("lg", "pn"), "multilabel_margin_loss": ("lg", "torch.tensor([[0, 1, -1, 0, 0], [2, -1, 0, 0, 0], [3, 4, 1, -1, 0]])"), "multilabel_soft_margin_loss": ("lg", "(tb > 0.5).float()")}.get(l, ("lg", "tb"))
    FN += [f"F.{l}({A}, {B})", f"F.{l}(input={A}, target={B})"] + [f"F.{l}({A}, {B}, reduction='{r}')" for r in ("none", "sum", "mean")]
    if l != "huber_loss": FN += [f"F.{l}({A}, {B}, size_average=False)", f"F.{l}({A}, {B}, reduce=False)", f"F.{l}({A}, {B}, size_average=True, reduce=True)"]
FN += ["F.mse_loss(lg, tb, None, None, 'sum')", "F.mse_loss(lg, tb, False)", "F.mse_loss(lg, tb, weight=pm)", "F.mse_loss(lg, tb, reduction='sum', weight=pm)", "F.l1_loss(lg, tb, weight=pm)", "F.huber_loss(lg, tb, 'sum', 0.5)", "F.huber_loss(lg, tb, delta=0.3)", "F.huber_loss(lg, tb, weight=pm, reduction='none')", "F.smooth_l1_loss(lg, tb, beta=0.5)", "F.smooth_l1_loss(lg, tb, None, None, 'mean', 2.0)", "F.smooth_l1_loss(lg, tb, beta=0.0)", "F.kl_div(lg, tb, reduction='batchmean')", "F.kl_div(lg, tb.log(), log_target=True)", "F.kl_div(lg, tb, None, None, 'sum', False)", "F.binary_cross_entropy(pm, tb)", "F.binary_cross_entropy(pm, tb, tb)", "F.binary_cross_entropy(pm, tb, reduction='none')", "F.binary_cross_entropy(pm, tb, weight=pm, reduction='sum')", "F.binary_cross_entropy(pm, tb, None, False)", "F.binary_cross_entropy_with_logits(lg, tb, pm)", "F.binary_cross_entropy_with_logits(lg, tb, pos_weight=torch.ones(5) * 2)", "F.binary_cross_entropy_with_logits(lg, tb, None, None, None, 'sum', pm)", "F.poisson_nll_loss(lg, tb, False)", "F.poisson_nll_loss(pm, tb, log_input=False, full=True)", "F.poisson_nll_loss(lg, tb, True, True, None, 1e-6, None, 'none')", "F.gaussian_nll_loss(lg, tb, pm)", "F.gaussian_nll_loss(lg, tb, pm, True)", "F.gaussian_nll_loss(lg, tb, pm, full=True, eps=0.5, reduction='none')", "F.hinge_embedding_loss(lg, pn, 0.5)", "F.hinge_embedding_loss(lg, pn, margin=2.0, reduction='sum')", "F.multi_margin_loss(lg, ti)", "F.multi_margin_loss(lg, ti, 2, 0.5)", "F.multi_margin_loss(lg, ti, p=1, margin=0.5, weight=torch.arange(5.0), reduction='none')", "F.cosine_embedding_loss(a, b, p1)", "F.cosine_embedding_loss(a, b, p1, 0.2)", "F.cosine_embedding_loss(a, b, p1, margin=0.1, reduction='none')", "F.margin_ranking_loss(k.float(), ti.float(), p1)", "F.margin_ranking_loss(k.float(), ti.float(), p1, 0.5)", "F.margin_ranking_loss(k.float(), ti.float(), target=p1, margin=0.2, reduction='sum')", "F.triplet_margin_loss(a, b, p)", "F.triplet_margin_loss(a, b, p, 0.5)", "F.triplet_margin_loss(a, b, q, 0.5, 1, 1e-6, True, reduction='none')", "F.triplet_margin_with_distance_loss(a, b, q)", "F.triplet_margin_with_distance_loss(a, b, q, margin=0.3, swap=True, reduction='sum')", "F.nll_loss(lg, ti)", "F.nll_loss(lg, ti, torch.arange(5.0))", "F.nll_loss(lg, ti, reduction='sum')", "F.nll_loss(lg, ti, ignore_index=0, reduction='none')", "F.nll_loss(lg, ti, None, None, 1)", "F.nll_loss(l3, t3)", "F.nll_loss(l3, t3, reduction='none')", "F.nll_loss(lg, ti, None, False)", "F.cross_entropy(lg, ti)", "F.cross_entropy(lg, ti, torch.arange(5.0))", "F.cross_entropy(lg, ti, label_smoothing=0.1)", "F.cross_entropy(lg, ti, weight=torch.arange(5.0), label_smoothing=0.2, reduction='none')", "F.cross_entropy(lg, tb)", "F.cross_entropy(lg, tb, reduction='sum', label_smoothing=0.1)", "F.cross_entropy(lg, ti, None, None, 1, None, 'sum')", "F.cross_entropy(l3, t3)", "F.cross_entropy(l3, t3, reduction='none')", "F.cross_entropy(lg[0], ti[0])", "F.cross_entropy(lg, ti, None, None, -100, None, 'none', 0.3)", "F.cross_entropy(lg, ti, size_average=False)", "F.ctc_loss(torch.log_softmax(l3, 2), torch.tensor([[1], [2], [1]]), [2, 2, 2], [1, 1, 1])", "F.ctc_loss(torch.log_softmax(l3, 2), torch.tensor([[1], [2], [1]]), torch.tensor([2, 2, 2]), torch.tensor([1, 1, 1]), reduction='sum')", "F.ctc_loss(torch.log_softmax(l3, 2), torch.tensor([[1], [2], [1]]), (2, 2, 2), (1, 1, 1), 0, 'none', True)", "F.cosine_similarity(a, b)", "F.cosine_similarity(a, b, 0)", "F.cosine_similarity(a, b, dim=-1, eps=1.0)", "F.cosine_similarity(x1=a, x2=b)", "F.pairwise_distance(a, b)", "F.pairwise_distance(a, b, 1)", "F.pairwise_distance(a, b, p=3, keepdim=True)", "F.pdist(a)", "F.pdist(a, 1)"]
FN += ["F.linear(a, z)", "F.linear(a, z, v)", "F.linear(input=a, weight=z, bias=None)", "F.bilinear(a, b, c.new_ones(2, 4, 4))", "F.conv1d(y, k1)", "F.conv1d(y, k1, v, 2, 1)", "F.conv1d(y, k1, padding='same')", "F.conv1d(y, k1, stride=(2,), padding=(1,))", "F.conv1d(y[0], k1)", "F.conv2d(x, k2)", "F.conv2d(x, k2, v)", "F.conv2d(x, k2, None, 2, 1)", "F.conv2d(x, k2, None, (2, 1), (1, 0), 2)", "F.conv2d(x, k2, padding='same')", "F.conv2d(x, k2e, padding='same')", "F.conv2d(x, k2e, v, 1, 'same', 2)", "F.conv2d(x, k2, padding='valid')", "F.conv2d(x, k2[:, :1], None, 1, 0, 1, 4)", "F.conv2d(x, k2[:, :2], groups=2)", "F.conv2d(x[0], k2)", "torch.conv2d(x, k2, None, [1, 1], [1, 1])", "torch.conv2d(x, k2, padding=1)", "F.conv_transpose2d(x, k2)", "F.conv_transpose2d(x, k2, v, 2, 1, 1)", "F.conv_transpose1d(y, k1, stride=2, output_padding=1)", "F.conv_transpose2d(x, k2, None, 1, 0, 0, 1, 2)", "F.conv3d(u, u.new_ones(1, 2, 2, 2, 2))", "F.conv3d(u, u.new_ones(1, 2, 2, 2, 2), padding='same')", "F.max_pool1d(y, 2)", "F.max_pool1d(y, 3, 1, 1)", "F.max_pool1d(y, kernel_size=2, stride=1, return_indices=True)", "F.max_pool2d(x, 2)", "F.max_pool2d(x, (2, 3), (1, 2))", "F.max_pool2d(x, 3, stride=2, padding=1)", "F.max_pool2d(x, 2, return_indices=True)", "F.max_pool2d(x, 3, 2, 1, 1, True)", "F.max_pool2d(x, 3, 2, 0, 1, False, True)", "F.max_pool2d(x, kernel_size=2, dilation=2)", "F.max_pool3d(u, 2)", "F.max_pool3d(u, 2, 1, return_indices=True)", "torch.max_pool2d(x, 2)", "torch.max_pool2d(x, [2], [1])", "torch.max_pool1d(y, 2, 1)", "F.avg_pool1d(y, 2)", "F.avg_pool1d(y, 3, 1, 1, True, False)", "F.avg_pool2d(x, 2)", "F.avg_pool2d(x, (2, 3), 1, 0)", "F.avg_pool2d(x, 3, 2, 1, True, False)", "F.avg_pool2d(x, 3, stride=2, padding=1, divisor_override=2)", "F.avg_pool3d(u, 2)", "F.adaptive_avg_pool1d(y, 3)", "F.adaptive_avg_pool2d(x, 1)", "F.adaptive_avg_pool2d(x, (2, 3))", "F.adaptive_avg_pool2d(x, (None, 2))", "F.adaptive_avg_pool2d(x, output_size=[3, 3])", "F.adaptive_avg_pool3d(u, 2)", "F.adaptive_avg_pool3d(u, (1, None, 2))", "F.adaptive_max_pool1d(y, 3)", "F.adaptive_max_pool1d(y, 3, True)", "F.adaptive_max_pool2d(x, 2)", "F.adaptive_max_pool2d(x, (None, 2))", "F.adaptive_max_pool2d(x, (2, 2), return_indices=True)", "F.adaptive_max_pool3d(u, 2)", "F.lp_pool1d(y, 2, 2)", "F.lp_pool2d(x, 2, 3)", "F.lp_pool2d(x, 2.0, (2, 3), 1)", "F.lp_pool2d(x, norm_type=3, kernel_size=2, ceil_mode=True)", "F.lp_pool3d(u, 2, 2)", "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)", "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), kernel_size=2, output_size=(7, 7))", "F.max_unpool1d(*F.max_pool1d(y, 2, return_indices=True), 2)", "F.max_unpool3d(*F.max_pool3d(u, 2, return_indices=True), 2)", "F.pad(a, (1, 1))", "F.pad(a, [1, 2, 0, 1], 'constant', 3.0)", "F.pad(a, (1, 0), value=2)", "F.pad(x, (1, 1, 2, 0), mode='reflect')", "F.pad(x, (1, 1, 2, 0), mode='replicate')", "F.pad(y, (2, 1), 'circular')", "F.pad(a, pad=(0, -1))", "F.unfold(x, 2)", "F.unfold(x, (2, 3), 1, 1, 2)", "F.unfold(x, kernel_size=3, padding=1, stride=(2, 1))", "F.unfold(x, 2, dilation=2)", "F.fold(F.unfold(x, 2), (6, 6), 2)", "F.fold(F.unfold(x, 3, padding=1, stride=2), output_size=6, kernel_size=3, padding=1, stride=2)", "F.pixel_shuffle(x, 2)", "F.pixel_unshuffle(x, 2)", "F.channel_shuffle(x, 2)", "F.one_hot(j)", "F.one_hot(j, 5)", "F.one_hot(j, num_classes=6)", "F.embedding(j, em)", "F.embedding(i, em, 1)", "F.embedding(j, em, padding_idx=-1)", "F.embedding(j, em.clone(), max_norm=1.0)", "F.embedding(j, em.clone(), None, 0.5, 1.0)", "torch.embedding(em, j)", "torch.embedding(em, j, 2)", "F.embedding_bag(i, em)", "F.embedding_bag(j, em, torch.tensor([0, 2]))", "F.embedding_bag(j, em, offsets=torch.tensor([0, 1]), mode='sum')", "F.embedding_bag(i, em, mode='max')", "F.embedding_bag(j, em, torch.tensor([0, 2]), mode='sum', per_sample_weights=v)", "F.embedding_bag(j, em, torch.tensor([0, 2, 4]), include_last_offset=True)", "F.embedding_bag(i, em, padding_idx=1)", "F.embedding_bag(i, em.clone(), max_norm=0.5)", "torch.embedding_bag(em, j, torch.tensor([0, 2]))"]
FN += ["F.interpolate(x, 12)", "F.interpolate(x, (8, 9))", "F.interpolate(x, scale_factor=2)", "F.interpolate(x, scale_factor=1.5)", "F.interpolate(x, scale_factor=(1.5, 2))", "F.interpolate(x, None, 0.5)", "F.interpolate(x, size=9, mode='bilinear')", "F.interpolate(x, size=(9, 7), mode='bilinear', align_corners=True)", "F.interpolate(x, scale_factor=1.7, mode='bilinear', align_corners=False)", "F.interpolate(x, scale_factor=1.7, mode='bilinear', recompute_scale_factor=True)", "F.interpolate(x, scale_factor=2.0, mode='bicubic')", "F.interpolate(x, (9, 9), None, 'bicubic', True)", "F.interpolate(x, (4, 4), mode='bilinear', antialias=True)", "F.interpolate(x, (4, 4), mode='bicubic', antialias=True)", "F.interpolate(x, (4, 3), mode='area')", "F.interpolate(x, scale_factor=0.5, mode='area')", "F.interpolate(x, (9, 9), mode='nearest-exact')", "F.interpolate(y, 12)", "F.interpolate(y, scale_factor=1.6, mode='linear')", "F.interpolate(y, 5, mode='linear', align_corners=True)", "F.interpolate(u, (3, 5, 6))", "F.interpolate(u, scale_factor=1.5, mode='trilinear')", "F.interpolate(u, 3, mode='trilinear', align_corners=True)", "F.upsample(x, scale_factor=2)", "F.upsample(x, (9, 9), mode='bilinear')", "F.upsample_nearest(x, scale_factor=2)", "F.upsample_bilinear(x, (9, 9))", "F.grid_sample(x, gr)", "F.grid_sample(x, gr, 'nearest')", "F.grid_sample(x, gr, mode='bicubic', padding_mode='border')", "F.grid_sample(x, gr, 'bilinear', 'reflection', True)", "F.grid_sample(x, gr, align_corners=True)", "F.grid_sample(u, torch.zeros(2, 2, 2, 2, 3))", "F.affine_grid(th, (2, 3, 4, 5))", "F.affine_grid(th, [2, 3, 4, 5], True)", "F.affine_grid(th, size=(2, 1, 3, 3), align_corners=False)", "F.scaled_dot_product_attention(q4, q4, q4)", "F.scaled_dot_product_attention(q4, q4, q4, is_causal=True)", "F.scaled_dot_product_attention(q4, q4, q4, q4.new_ones(3, 3))", "F.scaled_dot_product_attention(q4, q4, q4, attn_mask=torch.eye(3).bool(), scale=0.3)", "F.scaled_dot_product_attention(q3, q3, q3)", "F.scaled_dot_product_attention(q3, q3, q3, None, 0.0, True)", "F.scaled_dot_product_attention(a, b, b)", "F.scaled_dot_product_attention(q4, q4[:, :1], q4[:, :1], enable_gqa=True)",
       "F.multi_head_attention_forward(q3, q3, q3, 4, 2, torch.cat([z, z, z]), None, None, None, False, 0.0, z, v)", "F.multi_head_attention_forward(q3, q3, q3, 4, 2, torch.cat([z, z, z]), torch.cat([v, v, v]), None, None, False, 0.0, z, v, need_weights=False)", "F.multi_head_attention_forward(q3, q3, q3, 4, 2, torch.cat([z, z, z]), None, None, None, False, 0.0, z, v, average_attn_weights=False)", "F.multi_head_attention_forward(q3, q3, q3, 4, 2, torch.cat([z, z, z]), None, None, None, False, 0.0, z, v, attn_mask=torch.eye(2).bool())", "F.multi_head_attention_forward(q3, q3 + 1, q3 - 1, 4, 2, torch.cat([z, z, z]), None, None, None, False, 0.0, z, v, key_padding_mask=torch.tensor([[False, True], [False, False], [True, False]]))", "F.multi_head_attention_forward(a, a, a, 4, 2, torch.cat([z, z, z]), None, None, None, False, 0.0, z, v)", "F.multi_head_attention_forward(q3, q3, q3, 4, 2, torch.cat([z, z, z]), None, v.view(1, 1, 4), w.view(1, 1, 4), True, 0.0, z, v)", "F.multi_head_attention_forward(q3, q3, q3, 4, 2, None, None, None, None, False, 0.0, z, v, use_separate_proj_weight=True, q_proj_weight=z, k_proj_weight=z, v_proj_weight=z)",
       "torch.bernoulli(torch.ones(3))", "torch.stft(v.repeat(8), 8, return_complex=True)", "torch.stft(v.repeat(8), 8, 4, 8, torch.ones(8), center=False, return_complex=True)", "torch.istft(torch.stft(v.repeat(8), 8, window=torch.ones(8), return_complex=True), 8, window=torch.ones(8))"]
s(*FN)
for f in ["fft", "ifft", "rfft", "hfft"]:
    s(f"torch.fft.{f}(a)", f"torch.fft.{f}(a, 3)", f"torch.fft.{f}(a, n=6, dim=0)", f"torch.fft.{f}(a, None, -1, 'ortho')", f"torch.fft.{f}(a, norm='forward')")
s("torch.fft.irfft(torch.fft.rfft(a))", "torch.fft.irfft(torch.fft.rfft(a), 4)", "torch.fft.fft2(a)", "torch.fft.fft2(a, (2, 2))", "torch.fft.fftn(c)", "torch.fft.fftn(c, dim=(0, 1))", "torch.fft.rfft2(a)", "torch.fft.rfftn(c, s=(2, 3), dim=(1, 2))", "torch.fft.fftshift(a)", "torch.fft.fftshift(a, 0)", "torch.fft.fftshift(a, dim=(1,))", "torch.fft.ifftshift(a)", "torch.fft.fftfreq(5)", "torch.fft.fftfreq(4, 0.5)", "torch.fft.rfftfreq(5, d=2.0)",
  "torch.linalg.norm(a)", "torch.linalg.norm(a, 1)", "torch.linalg.norm(a, 'fro')", "torch.linalg.norm(a, ord=2, dim=1)", "torch.linalg.norm(a, 'nuc', (0, 1))", "torch.linalg.norm(a, dim=0, keepdim=True)", "torch.linalg.vector_norm(a)", "torch.linalg.vector_norm(a, 1)", "torch.linalg.vector_norm(a, 3, 1)", "torch.linalg.vector_norm(a, ord=math.inf, dim=(0, 1), keepdim=True)", "torch.linalg.matrix_norm(a)", "torch.linalg.matrix_norm(a, 'fro', (0, 1))", "torch.linalg.matrix_norm(a, 1)", "torch.linalg.det(z)", "torch.det(z)", "z.logdet()", "torch.linalg.slogdet(z)", "torch.linalg.inv(z)", "z.inverse()", "torch.linalg.solve(z, z)", "torch.linalg.solve(z, v)", "torch.linalg.solve(z, z, left=False)", "torch.linalg.matrix_power(z, 3)", "torch.linalg.matrix_rank(z)", "torch.linalg.cond(z)", "torch.linalg.cond(z, 1)", "torch.linalg.pinv(a)", "torch.linalg.svdvals(a)", "torch.linalg.eigvalsh(z @ z.T)", "torch.linalg.cholesky(z @ z.T + torch.eye(4))", "torch.linalg.cholesky(z @ z.T + torch.eye(4), upper=True)", "torch.cholesky(z @ z.T + torch.eye(4), True)", "torch.linalg.lstsq(a.T, b.T)[0]", "torch.linalg.vecdot(a, b)", "torch.linalg.vecdot(a, b, dim=0)", "torch.vdot(v, w)", "torch.linalg.tensorinv(torch.eye(4).view(2, 2, 4), ind=2)", "torch.linalg.vander(v)", "torch.linalg.vander(v, N=2)", "torch.linalg.matmul(z, z)", "torch.linalg.diagonal(c, offset=1)", "torch.linalg.solve_triangular(z.triu() + torch.eye(4) * 3, z, upper=True)", "torch.triangular_solve(z, z.triu() + torch.eye(4) * 3)[0]", "torch.cholesky_solve(z, torch.linalg.cholesky(z @ z.T + torch.eye(4)))", "torch.linalg.matrix_exp(z)", "z.matrix_exp()", "torch.linalg.householder_product(a.T, v[:3])")
IN = ["a.add_(1)", "a.add_(b, alpha=2)", "a.mul_(b)", "a.sub_(2)", "a.div_(2)", "a.div_(b, rounding_mode='floor')", "a.clamp_(0, 1)", "a.clamp_(min=0)", "a.fill_(2)", "a.fill_(s)", "a.zero_()", "a.copy_(v)", "a.copy_(i)", "a.pow_(2)", "a.neg_()", "a.relu_()", "a.lerp_(b, 0.5)", "a.masked_fill_(m, 0)", "a.scatter_(1, i, 2.0)", "a.scatter_(1, i, b)", "a.scatter_(1, i, b, reduce='multiply')", "a.scatter_add_(1, i, b)", "a.index_add_(0, torch.tensor([1]), b[:1])", "a.index_fill_(1, torch.tensor([0]), 9)", "a.index_copy_(0, torch.tensor([1]), b[:1])", "a.index_put_((torch.tensor([0]), torch.tensor([1])), torch.tensor(9.0))", "a.addcmul_(a, b, value=2)", "a.addcmul_(2, a, b)", "a.squeeze_()", "a.transpose_(0, 1)", "a.t_()", "a.tril_()", "a.triu_(1)", "a.logical_not_()", "a.eq_(b)", "a.floor_divide_(2)", "a.remainder_(2)", "a.sigmoid_()", "a.sin_()", "torch.relu_(a)", "torch.neg_(a)", "F.relu_(a)", "F.leaky_relu_(a, 0.2)", "F.elu_(a, 0.5)", "F.hardtanh_(a, -1, 1)", "F.threshold_(a, 0.1, 5)", "torch.add(a, b, out=a)", "torch.sum(a, 1, out=k.float())", "torch.max(a, 1, out=(k.float(), ti))", "a.bernoulli_(1.0)", "a.renorm_(2, 0, 1.0)", "a.round_(decimals=1)", "a.nan_to_num_(0)", "a.cumsum_(1)", "a.unsqueeze_(0)", "i.bitwise_and_(1)", "i.add_(2)", "a.xlogy_(p)", "a.copysign_(b)", "a.masked_scatter_(m, b)", "a.set_(b)", "a.fill_diagonal_(5)", "a.put_(j, v)", "a.index_reduce_(0, torch.tensor([0, 1]), b[:2], 'prod')"]
s(*IN)
BAD = ["torch.sum(a, b)", "a.view()", "torch.add(a)", "torch.add(a, b, c, d)", "torch.std(a, 'x')", "F.relu(a, 1, 2)", "torch.cat(a)", "torch.zeros('a')", "a.permute(0)", "torch.where(m, a)", "F.elu(a, alpha=1, foo=2)", "a.sum(dims=1)", "torch.softmax(a)", "a.softmax()", "torch.full((2,))", "a.view(3.0, 4)", "torch.max(a, 1.5)", "torch.clamp(a, 'x')", "a.clamp()", "a.to('float32')", "a[5]", "a[0, 0, 0]", "a['x']", "a[1.5]", "torch.tensor('x')", "torch.tensor([[1], [1, 2]])", "F.mse_loss(lg, tb, reduction='avg')", "F.interpolate(x)", "F.interpolate(x, 2, 2)", "F.interpolate(x, 2, mode='linear')", "F.interpolate(x, 4, align_corners=True)", "F.conv2d(x, k2, padding='wrong')", "F.conv2d(x, k2, None, 2, 'same')", "torch.add(a, b, alpha='x')", "a.std(correction='x')", "torch.std(a, 0, 1)", "torch.unfold(a, 1, 2, 1)", "a.norm(1, 2, 3, 4, 5, 6)", "torch.mean(i)", "F.grid_sample(x, gr, 'cubic')", "F.embedding(em, j)", "torch.einsum('ij,jk')", "torch.split(a)", "a.chunk()", "torch.dropout(a, 0.5)", "torch.batch_norm(x, v, w)", "a.expand()", "a.repeat(2)", "torch.tensordot(a, b, dims=3)", "torch.arange()", "torch.arange(1, 2, 3, 4)", "a.transpose(0)", "torch.stack(a, b)", "a.size('x')", "torch.var(a, 0, True, True, True)", "F.one_hot(a)", "F.kl_div(lg, tb, reduction='bad')", "torch.bitwise_and(a, b)", "a @ 2", "a & b", "i << 1.5"]
s(*BAD)

def plain(v):
    if isinstance(v, torch.Tensor):
        u = v.detach()
        d = {"t": str(u.dtype)[6:], "s": list(u.shape)}
        if u.is_complex(): u = torch.view_as_real(u)
        if u.numel() <= 4096:
            d["v"] = [float(f"{x:.7g}") if isinstance(x, float) and math.isfinite(x) else (x if not isinstance(x, float) else repr(x)) for x in u.flatten().tolist()]
        return d
    if isinstance(v, (list, tuple)): return [plain(x) for x in v]
    if isinstance(v, (bool, int)) or v is None: return v
    if isinstance(v, float): return v if math.isfinite(v) else repr(v)
    return {"p": str(v)}

def run(text, env):
    if text.startswith("SET "):
        exec(text[4:], {**G, **env}); return env["a"]
    return eval(text, {**G, **env})
G = {"torch": torch, "F": F, "math": math, "operator": operator}

# Also as Dynamo writes it: the nodes of the graph that torch.compile hands to a backend.
import torch._dynamo as dyn
def graph_of(text):
    got = []
    def backend(gm, ex):
        got.append(gm.print_readable(False))
        return gm.forward
    names = sorted(k for k in T)
    import re
    used = [k for k in names if re.search(rf"(?<![\w.'\"]){k}(?![\w'\"(=])", text)]
    src = f"def fn({', '.join(used)}):\n" + (f"    {text[4:]}\n    return a\n" if text.startswith("SET ") else f"    return {text}\n")
    ns = dict(G); exec(src, ns)
    dyn.reset()
    try:
        torch.compile(ns["fn"], backend=backend, fullgraph=True)(*[T[k].clone() for k in used])
    except Exception as e:
        return None
    return got[0] if len(got) == 1 else None

import ast, gzip, io, re
CODE = {"float32": "f32", "int64": "i64", "bool": "b8", "complex64": "c64"}

def used(text):
    return [k for k in sorted(T) if re.search(rf"(?<![\w.'\"]){k}(?![\w'\"(=])", text)]

def renamed(graph, text):
    """Placeholders by the tensors' names, and no comments."""
    for i, name in reversed(list(enumerate(used(text)))):
        graph = re.sub(rf"\b([Ll])_args_{i}_\b", rf"\1_{name}_", graph)
    return "\n".join(l for l in graph.split("\n") if l.strip() and not l.strip().startswith("#")) + "\n"

def is_plain(node):
    if isinstance(node, ast.Constant): return node.value is not Ellipsis
    if isinstance(node, ast.Name): return node.id in T
    if isinstance(node, (ast.Tuple, ast.List)): return all(map(is_plain, node.elts))
    if isinstance(node, ast.UnaryOp): return is_plain(node.operand)
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch"

class Renamer(ast.NodeTransformer):
    def visit_Name(self, node):
        if node.id in T: return ast.Name(f"l_{node.id}_")
        return ast.parse("torch.nn.functional", mode="eval").body if node.id == "F" else node

def refused_graph(text):
    """The call that PyTorch refuses, as Dynamo would write it; none for what is more than one call."""
    if text.startswith("SET"): return None
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute): return None
    if not all(map(is_plain, node.args)) or not all(is_plain(k.value) for k in node.keywords): return None
    body, names = ast.unparse(Renamer().visit(node)), used(text)
    typed = "".join(f', L_{k}_: "{CODE[str(T[k].dtype)[6:]]}[{", ".join(map(str, T[k].shape))}]"' for k in names)
    lines = ["class GraphModule(torch.nn.Module):", f"    def forward(self{typed}):"]
    lines += [f"        l_{k}_ = L_{k}_" for k in names] + [f"        result = {body}", "        return (result,)"]
    return "\n".join(lines) + "\n"

def write(forms, out):
    lines = [json.dumps({"tensors": {k: plain(v) for k, v in T.items()}}, separators=(",", ":"))]
    for row in forms:
        packed = {"text": row["text"]}
        if "graph" in row:
            packed.update(graph=renamed(row["graph"], row["text"]), result=row["result"])
            if "changed" in row: packed["changed"] = row["changed"]
        elif "error" in row and refused_graph(row["text"]):
            packed.update(graph=refused_graph(row["text"]), error=row["error"][:100])
        else:
            continue
        lines.append(json.dumps(packed, separators=(",", ":")))
    with open(out + "/python_forms.jsonl.gz", "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())

def main(out):
    import time
    start = time.time()
    forms = []
    for text in dict.fromkeys(S):
        env = {k: v.clone() for k, v in T.items()}
        row = {"text": text}
        torch.manual_seed(0)
        try:
            row["result"] = plain(run(text, env))
            changed = [k for k in T if env[k].shape != T[k].shape or not torch.equal(torch.nan_to_num(env[k]) if env[k].is_floating_point() else env[k], torch.nan_to_num(T[k]) if T[k].is_floating_point() else T[k])]
            if changed: row["changed"] = {k: plain(env[k]) for k in changed}
        except Exception as e:
            row["error"] = type(e).__name__ + ": " + str(e).split("\n")[0][:160]
        forms.append(row)
    write(forms, out)
    import random
    order = forms[:]
    random.Random(1).shuffle(order)
    done = 0
    for row in order:
        if time.time() - start > 170: break
        if "error" in row: continue
        g = graph_of(row["text"])
        if g: row["graph"] = g
        done += 1
    write(forms, out)
    print(len(forms), "forms", sum("error" in f for f in forms), "errors", sum("graph" in f for f in forms), "graphs", done, "tried", round(time.time() - start), "s")
main(sys.argv[1])
