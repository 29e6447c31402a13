"""Records calls of a seeded PyTorch as JSON (random numbers, linear algebra, FFT, attention, quantization).

python3 record_calls.py OUTDIR writes OUTDIR/*.json. The small files beside this script came from PyTorch 2.11.
"""
import json
import math
import os
import subprocess
import sys
import traceback

import torch

aten = torch.ops.aten
OUT = sys.argv[1]
f32, f64, f16, bf16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
c64, c128 = torch.complex64, torch.complex128
i64, i32, i16, i8, u8, boolean = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool
VIEW = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def tensor(t, sample=None, bits=True):
    flat = t.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
    d = {"dtype": str(t.dtype)[6:], "shape": list(t.shape), "stride": list(t.stride())}
    if not sample and flat.numel() > 2000:  # only constant arguments are that large
        d["fill"] = float(flat[0])
        return d
    if sample and flat.numel() > sample:
        step = flat.numel() // sample
        d["step"] = step
        flat = flat[::step].contiguous()
    if t.dtype.is_complex:
        flat = torch.view_as_real(flat).reshape(-1)
    if bits and flat.dtype.is_floating_point:
        d["bits"] = flat.view(VIEW[flat.element_size()]).tolist()
    elif flat.dtype.is_floating_point:
        d["values"] = [float(repr(v)) if math.isfinite(v) else str(v) for v in flat.double().tolist()]
    else:
        d["values"] = [int(v) for v in flat.tolist()]
    return d


def encode(v, sample=None, bits=True):
    if isinstance(v, torch.Tensor):
        return {"tensor": tensor(v, sample, bits)}
    if isinstance(v, torch.dtype):
        return {"torch_dtype": str(v)[6:]}
    if isinstance(v, torch.device):
        return {"device": str(v)}
    if isinstance(v, (list, tuple, torch.Size)):
        return [encode(x, sample, bits) for x in v]
    return v


def resolve(name):
    packet, overload = name.rsplit(".", 1)
    ns = torch.ops
    for part in packet.split("."):
        ns = getattr(ns, part)
    return getattr(ns, overload)


def step(name, args, kwargs, sample=None, bits=True):
    record = {"op": name, "args": encode(args), "kwargs": {k: encode(v) for k, v in kwargs.items()}}
    try:
        out = resolve(name)(*args, **kwargs)
        record["out"] = encode(out if isinstance(out, (tuple, list)) else [out], sample, bits)
    except Exception as error:
        record["error"] = str(error)[:300]
    return record


def isolated(name, args, kwargs):
    """One step in a process of its own: a crash becomes a record without result."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writer, "w") as out:
            json.dump(step(name, args, kwargs, None, False), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as source:
        text = source.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"op": name, "args": encode(args), "kwargs": {}, "error": "crashed"}


def random_cases(device):
    if device == "cuda":
        torch.cuda.init()  # before it, manual_seed only queues the seed
    cases = []

    def case(seed, *steps):
        torch.manual_seed(seed)
        cases.append({"seed": seed, "steps": [step(n, a, k, 64) for n, a, k in steps]})

    on = {"device": torch.device(device)}
    z = lambda *s, dtype=f32: torch.zeros(*s, dtype=dtype, device=device)
    for dtype in (f32, f64, f16, bf16):
        for n in (1, 5, 15, 16, 17, 24, 100):
            case(7, ("aten.rand.default", ([n],), dict(dtype=dtype, **on)), ("aten.rand.default", ([3],), on))
            case(8, ("aten.randn.default", ([n],), dict(dtype=dtype, **on)), ("aten.randn.default", ([3],), on))
    for n in (1000, 70000, 1000000, 5000000):
        case(3, ("aten.rand.default", ([n],), on), ("aten.randn.default", ([n],), on), ("aten.rand.default", ([4],), on))
    case(3, ("aten.randn.default", ([1000],), dict(dtype=f64, **on)), ("aten.rand.default", ([1000],), dict(dtype=f64, **on)))
    case(4, ("aten.randn.default", ([3],), on), ("aten.randn.default", ([1],), on), ("aten.randn.default", ([2],), on))
    case(4, ("aten.randn.default", ([7],), dict(dtype=c64, **on)), ("aten.rand.default", ([7],), dict(dtype=c64, **on)))
    case(4, ("aten.randn.default", ([20],), dict(dtype=c128, **on)))
    for dtype in (f32, f64, f16, bf16):
        for n in (6, 40):
            x = z(n, dtype=dtype)
            for name, args in (("uniform", (-2.0, 3.0)), ("normal_functional", (1.5, 2.0)), ("exponential", (1.5,)),
                               ("log_normal", (0.5, 1.2)), ("geometric", (0.3,)), ("cauchy", (1.0, 2.0))):
                case(11, (f"aten.{name}.default", (x,) + args, {}), ("aten.rand.default", ([2],), on))
            case(11, ("aten.bernoulli.p", (x, 0.3), {}), ("aten.rand.default", ([2],), on))
            case(11, ("aten.native_dropout.default", (x + 1, 0.25, True), {}), ("aten.rand.default", ([2],), on))
            case(11, ("aten.bernoulli.default", (x + 0.4,), {}), ("aten.rand.default", ([2],), on))
            case(11, ("aten.random.default", (x,), {}), ("aten.random.to", (x, 50), {}),
                 ("aten.random.from", (x, -3, 90), {}))
    case(12, ("aten.bernoulli.default", (torch.linspace(0, 1, 12, device=device).reshape(3, 4).t(),), {}))
    case(12, ("aten.normal_functional.default", (z(8, 4).t(), 0.0, 1.0), {}), ("aten.rand.default", ([2],), on))
    case(12, ("aten.rand_like.default", (z(4, 6).t(),), {}), ("aten.randn_like.default", (z(4, 6).t(),), {}))
    case(12, ("aten.randn_like.default", (z(2, 3, 4, 5).to(memory_format=torch.channels_last),), {}))
    case(12, ("aten.bernoulli.p", (z(70000), 0.5), {}), ("aten.native_dropout.default", (z(70001) + 1, 0.5, True), {}))
    case(12, ("aten.native_dropout.default", (z(5000000) + 1, 0.1, True), {}), ("aten.rand.default", ([2],), on))
    m, s = torch.linspace(-3, 3, 20, device=device), torch.linspace(0.1, 2, 20, device=device)
    case(13, ("aten.normal.Tensor_float", (m, 0.5), {}), ("aten.normal.float_Tensor", (1.0, s), {}),
         ("aten.normal.Tensor_Tensor", (m, s), {}))
    for args in ((10, [20]), (1, [3]), (2 ** 33, [6]), (256, [17])):
        case(14, ("aten.randint.default", args, on), ("aten.rand.default", ([2],), on))
    for args in ((-5, 1000000, [20]), (0, 2 ** 40, [10]), (-2 ** 63, 2 ** 63 - 1, [4]), (0, 2 ** 32, [5]), (0, 2 ** 31, [5])):
        case(14, ("aten.randint.low", args, on), ("aten.rand.default", ([2],), on))
    for dtype in (i32, u8, f32, f64, bf16, i16, i8):
        case(15, ("aten.randint.default", (100, [9]), dict(dtype=dtype, **on)))
    case(15, ("aten.randint_like.default", (z(3, 4).t(), 9), {}), ("aten.randint_like.low_dtype", (z(3), 2, 9), {}))
    case(15, ("aten.random.default", (z(9, dtype=i64),), {}), ("aten.random.default", (z(9, dtype=i32),), {}),
         ("aten.random.default", (z(9, dtype=u8),), {}), ("aten.random.default", (z(9, dtype=boolean),), {}))
    for n in (1, 2, 5, 17, 100, 1000, 40000):
        case(16, ("aten.randperm.default", (n,), on), ("aten.rand.default", ([2],), on))
    case(16, ("aten.randperm.default", (20,), dict(dtype=i32, **on)))
    p = torch.tensor([0.1, 0.0, 0.4, 0.5], device=device)
    q = torch.tensor([[1.0, 2, 3, 4, 0.5], [0, 0, 1, 5, 2]], device=device)
    for dtype in (f32, f64):
        case(17, ("aten.multinomial.default", (p.to(dtype), 3, False), {}), ("aten.rand.default", ([2],), on))
        case(17, ("aten.multinomial.default", (q.to(dtype), 8, True), {}), ("aten.rand.default", ([2],), on))
        case(17, ("aten.multinomial.default", (q.to(dtype), 1, False), {}), ("aten.multinomial.default", (p.to(dtype), 1, True), {}))
    if device == "cuda":
        case(18, ("aten._fused_dropout.default", (z(50) + 1, 0.75), {}), ("aten.rand.default", ([2],), on))
    case(19, ("aten.poisson.default", (torch.tensor([0.5, 3.0, 20.0, 150.0], device=device),), {}))
    case(19, ("aten.rrelu_with_noise_functional.default", (torch.linspace(-1, 1, 9, device=device), z(9), 0.1, 0.4, True), {}))
    return cases


def inductor_cases(device):
    if device == "cuda":
        torch.cuda.init()
    cases = []
    makers = {
        "rand": lambda: torch.rand(20, device=device),
        "rand2": lambda: (torch.rand(4, 5, device=device), torch.rand(300, device=device)),
        "randn": lambda: torch.randn(20, device=device),
        "randn2": lambda: (torch.randn(3, 5, device=device), torch.randn(300, device=device)),
        "randint": lambda: torch.randint(0, 10, (20,), device=device),
        "randint64": lambda: torch.randint(-5, 2 ** 40, (20,), device=device),
        "dropout": lambda: torch.nn.functional.dropout(torch.ones(40, device=device), 0.3, True),
    }
    for name, f in makers.items():
        for seed in (1, 21):
            try:
                compiled = torch.compile(f)
                compiled()
                torch.manual_seed(seed)
                out = compiled()
                torch.manual_seed(seed)
                count = 2 if name.endswith("2") else 1
                seeds = torch.randint(-2 ** 63, 2 ** 63 - 1, (count,), device=device)
                cases.append({"name": name, "seed": seed, "seeds": seeds.tolist(),
                              "out": encode(list(out) if isinstance(out, tuple) else [out])})
            except Exception as error:
                cases.append({"name": name, "error": str(error)[:400]})
    return cases


def linalg_cases():
    torch.manual_seed(0)
    cases = []

    def case(name, *args, **kwargs):
        cases.append(step(name, args, kwargs, None, False))

    for dtype in (f64, c128, f32):
        g = lambda *s: torch.randn(*s, dtype=dtype)
        a, b, tall, wide = g(3, 3), g(2, 3, 3), g(4, 3), g(2, 2, 4)
        spd = a @ a.mH + torch.eye(3, dtype=dtype)
        spdb = b @ b.mH + torch.eye(3, dtype=dtype)
        for x in (spd, spdb):
            for upper in (False, True):
                case("aten.linalg_cholesky_ex.default", x, upper=upper)
                case("aten.cholesky.default", x, upper)
                case("aten.cholesky_inverse.default", torch.linalg.cholesky(x).mH if upper else torch.linalg.cholesky(x), upper)
            case("aten._linalg_eigh.default", x, "L", True)
            case("aten._linalg_eigh.default", x, "U", False)
        case("aten.linalg_cholesky_ex.default", -spd)
        case("aten.linalg_cholesky_ex.default", -spd, check_errors=True)
        case("aten.cholesky.default", -spd)
        case("aten.cholesky_solve.default", g(3, 2), torch.linalg.cholesky(spd))
        case("aten.cholesky_solve.default", g(2, 3, 2), torch.linalg.cholesky(spd).mH, True)
        for x in (a, b, tall, wide):
            case("aten.linalg_lu_factor_ex.default", x)
            case("aten.linalg_lu.default", x)
            case("aten._linalg_svd.default", x, False, True)
            case("aten._linalg_svd.default", x, True, True)
            case("aten._linalg_svd.default", x, False, False)
            for mode in ("reduced", "complete", "r"):
                case("aten.linalg_qr.default", x, mode)
            case("aten.geqrf.default", x)
            case("aten.linalg_pinv.atol_rtol_tensor", x)
        for x in (a, b):
            case("aten._linalg_det.default", x)
            case("aten._linalg_slogdet.default", x)
            case("aten.linalg_inv_ex.default", x)
            case("aten.linalg_eig.default", x)
            case("aten._linalg_eigvals.default", x)
            case("aten.linalg_matrix_exp.default", x)
            case("aten.linalg_matrix_power.default", x, 3)
            case("aten.linalg_ldl_factor_ex.default", x + x.mT)
            rhs = g(*x.shape[:-1], 2)
            for left in (True, False):
                r = rhs if left else rhs.mT.contiguous()
                case("aten._linalg_solve_ex.default", x, r, left=left)
                case("aten.linalg_solve_triangular.default", x, r, upper=True, left=left)
                case("aten.linalg_solve_triangular.default", x, r, upper=False, left=left, unitriangular=True)
            case("aten.triangular_solve.default", rhs, x)
            case("aten.triangular_solve.default", rhs, x, False, True, True)
            lu, piv = torch.linalg.lu_factor(x)
            case("aten.lu_unpack.default", lu, piv)
            case("aten.linalg_lu_solve.default", lu, piv, rhs)
            case("aten.linalg_lu_solve.default", lu, piv, rhs, adjoint=True)
            case("aten.linalg_lstsq.default", x, rhs)
        case("aten._linalg_solve_ex.default", a, g(3))
        case("aten._linalg_solve_ex.default", b, g(2, 3))
        case("aten._linalg_solve_ex.default", a - a, g(3), check_errors=True)
        case("aten.linalg_inv_ex.default", a - a, check_errors=True)
        case("aten.linalg_lstsq.default", tall, g(4, 2))
        case("aten.linalg_lstsq.default", tall, g(4, 2), driver="gelsd")
        case("aten.linalg_lstsq.default", wide, g(2, 2, 3), driver="gelss")
        q, tau = torch.geqrf(tall)
        case("aten.linalg_householder_product.default", q, tau)
        case("aten.ormqr.default", q, tau, g(4, 2))
        case("aten.ormqr.default", q, tau, g(2, 4), False, True)
        case("aten.linalg_cross.default", g(4, 3), g(4, 3))
        case("aten.linalg_vecdot.default", g(4, 3), g(4, 3))
        case("aten._fft_c2c.default", torch.randn(4, 6, dtype=c64 if dtype == f32 else c128), [0, 1], 0, True)
        case("aten._fft_c2c.default", torch.randn(3, 5, 7, dtype=c64 if dtype == f32 else c128), [2, 0], 1, False)
    for dtype in (f32, f64):
        x = torch.randn(3, 4, 6, dtype=dtype)
        for dims in ([2], [1], [0, 2], [0, 1, 2]):
            for one in (True, False):
                case("aten._fft_r2c.default", x, dims, 1, one)
        y = torch.randn(3, 4, 4, dtype=c64 if dtype == f32 else c128)
        for dims in ([2], [1], [0, 2], [0, 1, 2]):
            case("aten._fft_c2r.default", y, dims, 2, 6)
            case("aten._fft_c2r.default", y, dims, 2, 7)
            case("aten._fft_c2c.default", y, dims, 2, True)
    return cases


def attention_cases(device):
    torch.manual_seed(0)
    cases = []

    def case(name, *args, **kwargs):
        cases.append(step(name, args, kwargs, None, False))

    dtype = f32 if device == "cpu" else f16
    for h, hk, l, s, d in ((2, 2, 3, 5, 8), (2, 2, 5, 3, 8), (2, 1, 3, 3, 8)):
        q = torch.randn(1, l, h, d, dtype=dtype, device=device).transpose(1, 2)
        k, v = (torch.randn(1, hk, s, d, dtype=dtype, device=device) for _ in range(2))
        if hk != h:
            case("aten._scaled_dot_product_attention_math.default", q, k, v, None, 0.0, True, enable_gqa=True)
            if device == "cuda":
                case("aten._scaled_dot_product_flash_attention.default", q, k, v, 0.0, True)
            continue
        for causal in (False, True):
            case("aten._scaled_dot_product_attention_math.default", q, k, v, None, 0.0, causal)
            if device == "cpu":
                case("aten._scaled_dot_product_flash_attention_for_cpu.default", q, k, v, 0.0, causal)
            else:
                case("aten._scaled_dot_product_flash_attention.default", q, k, v, 0.0, causal)
                case("aten._scaled_dot_product_flash_attention.default", q, k, v, 0.0, causal, True, scale=0.3)
                case("aten._scaled_dot_product_efficient_attention.default", q, k, v, None, True, 0.0, causal)
                case("aten._scaled_dot_product_efficient_attention.default", q, k, v, None, False, 0.0, causal)
                case("aten._scaled_dot_product_cudnn_attention.default", q, k, v, None, True, 0.0, causal)
                o = aten._scaled_dot_product_flash_attention.default(q, k, v, 0.0, causal)
                case("aten._scaled_dot_product_flash_attention_backward.default", torch.ones_like(o[0]), q, k, v, o[0], o[1],
                     o[2], o[3], o[4], o[5], 0.0, causal, o[6], o[7])
                e = aten._scaled_dot_product_efficient_attention.default(q, k, v, None, True, 0.0, causal)
                case("aten._scaled_dot_product_efficient_attention_backward.default", torch.ones_like(e[0]), q, k, v, None,
                     e[0], e[1], e[2], e[3], 0.0, [True, True, True, False], causal)
    if device == "cuda":
        q = torch.randn(1, 1, 40, 16, dtype=f16, device=device)
        torch.manual_seed(5)
        case("aten._scaled_dot_product_efficient_attention.default", q, q, torch.eye(40, dtype=f16, device=device)[None, None], None, True, 0.5, False)
        torch.manual_seed(5)
        case("aten._scaled_dot_product_flash_attention.default", q, q, q, 0.5, False, True)
    return cases


def quantized_cases():
    import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
    torch.manual_seed(0)
    cases = []

    def case(name, *args, **kwargs):
        cases.append(isolated(name, args, kwargs))

    x = torch.randn(3, 5) * 3
    qd = "quantized_decomposed."
    case(qd + "quantize_per_tensor.default", x, 0.05, 3, -128, 127, i8)
    case(qd + "quantize_per_tensor.tensor", x, torch.tensor(0.05), torch.tensor(3), 0, 255, u8)
    y = resolve(qd + "quantize_per_tensor.default")(x, 0.05, 3, -128, 127, i8)
    case(qd + "dequantize_per_tensor.default", y, 0.05, 3, -128, 127, i8)
    case(qd + "choose_qparams.tensor", x, -128, 127, 1e-6, i8)
    case(qd + "choose_qparams_symmetric.tensor", x, -128, 127, 1e-6, i8)
    case(qd + "quantize_per_channel.default", x, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1, 2, 3]), 0, -128, 127, i8)
    case(qd + "dequantize_per_channel.default", y, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1, 2, 3]), 0, -128, 127, i8)
    case(qd + "choose_qparams_per_token.default", x, i8)
    case(qd + "choose_qparams_per_token_asymmetric.default", x, i8)
    case(qd + "_choose_qparams_per_token_asymmetric_impl.default", x, i8)
    case(qd + "quantize_per_token.default", x, torch.rand(3, 1) + 0.01, torch.zeros(3, 1), -128, 127, i8)
    case(qd + "dequantize_per_token.default", y, torch.rand(3, 1), torch.zeros(3, 1), -128, 127, i8, f32)
    w = torch.randn(4, 8)
    case(qd + "quantize_per_channel_group.default", w, torch.rand(4, 2) + 0.05, torch.zeros(4, 2), -8, 7, i8, 4)
    case(qd + "dequantize_per_channel_group.default", torch.randint(-8, 8, (4, 8), dtype=i8), torch.rand(4, 2), torch.zeros(4, 2), -8, 7, i8, 4, f32)
    case(qd + "fake_quant_per_channel.default", x, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1, 2, 3], dtype=i32), 0, -128, 127)
    case("aten.fake_quantize_per_tensor_affine.default", x, 0.1, 2, -10, 10)
    case("aten.fake_quantize_per_tensor_affine_cachemask.default", x, 0.1, 2, -10, 10)
    case("aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default", x, torch.tensor([0.1]), torch.tensor([2], dtype=i32), torch.tensor([1]), -10, 10)
    case("aten.fake_quantize_per_channel_affine_cachemask.default", x, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1, 2, 3], dtype=i32), 0, -10, 10)
    case("aten._fake_quantize_learnable_per_tensor_affine.default", x, torch.tensor([0.1]), torch.tensor([2.0]), -10, 10, 0.7)
    case("aten._fake_quantize_learnable_per_tensor_affine_backward.default", torch.randn(3, 5), x, torch.tensor([0.1]), torch.tensor([2.0]), -10, 10, 0.7)
    case("aten._weight_int8pack_mm.default", torch.randn(2, 8, dtype=bf16), torch.randint(-128, 127, (4, 8), dtype=i8), torch.rand(4, dtype=bf16))
    case("aten._int_mm.default", torch.randint(-9, 9, (3, 4), dtype=i8), torch.randint(-9, 9, (4, 2), dtype=i8))
    a8, b8 = torch.randn(16, 16).to(torch.float8_e4m3fn), torch.randn(16, 16).to(torch.float8_e4m3fn).t()
    case("aten._scaled_mm.default", a8, b8, torch.tensor(0.5), torch.tensor(2.0), None, None, f32)
    case("aten._grouped_mm.default", torch.randn(6, 8, dtype=bf16), torch.randn(2, 8, 16, dtype=bf16), torch.tensor([2, 6], dtype=i32))
    case("aten._thnn_fused_lstm_cell.default", torch.randn(2, 12), torch.randn(2, 12), torch.randn(2, 3), torch.randn(12), torch.randn(12))
    p = [torch.randn(2, 2) for _ in range(2)]
    for amsgrad, maximize in ((False, False), (True, True)):
        args = ([t.clone() for t in p], [torch.randn(2, 2) for _ in range(2)], [torch.rand(2, 2) for _ in range(2)],
                [torch.rand(2, 2) for _ in range(2)], [torch.rand(2, 2) for _ in range(2)] if amsgrad else [],
                [torch.tensor(3.0) for _ in range(2)])
        opts = dict(lr=0.01, beta1=0.9, beta2=0.99, weight_decay=0.1, eps=1e-8, amsgrad=amsgrad, maximize=maximize)
        for name in ("_fused_adam", "_fused_adamw"):
            case(f"aten.{name}.default", *[[t.clone() for t in l] for l in args], **opts)
    m = lambda *s: torch.randn(*s)
    lstm = [m(12, 4), m(12, 3), m(12), m(12)]
    case("aten.lstm.input", m(5, 2, 4), [m(1, 2, 3), m(1, 2, 3)], lstm, True, 1, 0.0, False, False, False)
    case("aten.lstm.input", m(2, 5, 4), [m(2, 2, 3), m(2, 2, 3)], lstm + [m(12, 4), m(12, 3), m(12), m(12)], True, 1, 0.0, False, True, True)
    case("aten.gru.input", m(5, 2, 4), m(1, 2, 3), [m(9, 4), m(9, 3), m(9), m(9)], True, 1, 0.0, False, False, False)
    case("aten.rnn_tanh.input", m(5, 2, 4), m(1, 2, 3), [m(3, 4), m(3, 3), m(3), m(3)], True, 1, 0.0, False, False, False)
    case("aten._fused_rms_norm.default", m(3, 4), [4], m(4), 1e-5)
    return cases


def write(name, make):
    try:
        data = make()
    except Exception as error:
        print(name, "failed", error)
        traceback.print_exc()
        return
    with open(f"{OUT}/{name}.json", "w") as file:
        json.dump({"torch": torch.__version__, "cpu": torch.backends.cpu.get_cpu_capability(), "cases": data}, file,
                  separators=(",", ":"))
    print(name, len(data), flush=True)


SECTIONS = {
    "random_cpu": lambda: random_cases("cpu"),
    "linalg": linalg_cases,
    "quantized": quantized_cases,
    "attention_cpu": lambda: attention_cases("cpu"),
    "random_cuda": lambda: random_cases("cuda"),
    "attention_cuda": lambda: attention_cases("cuda"),
    "random_inductor_cpu": lambda: inductor_cases("cpu"),
    "random_inductor_cuda": lambda: inductor_cases("cuda"),
}
if len(sys.argv) > 2:
    torch.set_num_threads(1 if sys.argv[2] == "quantized" else 4)
    write(sys.argv[2], SECTIONS[sys.argv[2]])
else:
    for section in SECTIONS:  # one process each, so that a crash costs one section
        subprocess.run([sys.executable, __file__, OUT, section])
