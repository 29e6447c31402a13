# What every query needs, done once: vector instructions tried, headers precompiled, one graph compiled.
import contextlib
import copy
import threading
import time

from .shared import STATE, timed


def warm_up():
    """Compiles one small graph. Meanwhile a thread has the vector instructions tried and the headers precompiled, which
    are other processes' work. Forks find modules and answers in memory, libraries and headers on disk."""
    if STATE["device"] != "cpu":  # processes on a GPU are warm after their first query
        return
    started = time.monotonic()
    tools = threading.Thread(target=prepare_tools)
    with known_isa_awaited():
        tools.start()
        try:
            timed("a first compile", first_compile)
        finally:
            tools.join()
    with contextlib.suppress(Exception):
        import torch

        torch._dynamo.reset()
    STATE["warm_seconds"] = time.monotonic() - started


KNOWN_ISA = threading.Event()


@contextlib.contextmanager
def known_isa_awaited():
    """While the instructions are tried, nobody else may: Inductor changes the flags of what it tries on the way."""
    try:
        from torch._inductor import cpu_vec_isa

        original = cpu_vec_isa.valid_vec_isa_list
    except (ImportError, AttributeError):
        yield
        return
    main = threading.current_thread()

    def valid_vec_isa_list():
        if threading.current_thread() is main:
            KNOWN_ISA.wait()
        return original()

    cpu_vec_isa.valid_vec_isa_list = valid_vec_isa_list
    try:
        yield
    finally:
        cpu_vec_isa.valid_vec_isa_list = original


def prepare_tools():
    try:
        timed("test libraries", build_test_libraries)
        timed("vector instructions", know_vector_isa)
    finally:
        KNOWN_ISA.set()
    timed("precompiled headers", precompile_headers)


def know_vector_isa():
    from torch._inductor import cpu_vec_isa

    cpu_vec_isa.valid_vec_isa_list()


def build_test_libraries():
    """All libraries that Inductor tries instructions with, at the same time; it then finds them where it would have built
    them, one after the other. Copies are asked: an answer that counts is only that of Inductor itself."""
    from concurrent.futures import ThreadPoolExecutor

    from torch._inductor import cpu_vec_isa

    claimed = cpu_vec_isa.x86_isa_checker()
    with ThreadPoolExecutor(16) as pool:
        for isa in cpu_vec_isa.supported_vec_isa_list:
            if all(name in claimed for name in str(isa).split()):
                list(map(lambda question: pool.submit(ask_of_copy, *question), isa_questions(isa)))


def isa_questions(isa):
    """(a copy, the code that it is tried with), as the answers before lead to them where all are yes."""
    import torch

    extra = {"_avx512_bf16_code": " -mavx512bf16", "_amx_fp16_code": " -mamx-fp16"}
    supported = {"_avx512_bf16_code": "_is_avx512_bf16_supported", "_amx_fp16_code": "_is_amx_fp16_supported"}
    asked = copy.copy(isa)
    for name in ("_avx_code", "_avx512_bf16_code", "_avx512_vnni_code", "_amx_code", "_amx_fp16_code"):
        code = getattr(isa, name, None)
        if not isinstance(code, str) or name in supported and not getattr(torch.cpu, supported[name], bool)():
            continue
        one = copy.copy(asked)
        one._arch_flags += extra.get(name, "")
        yield one, code
        if name in supported:
            setattr(asked, supported[name], True)


def ask_of_copy(isa, code):
    with contextlib.suppress(Exception):
        isa.check_build(code)


def precompile_headers():
    """By a kernel that does nothing: what Inductor includes is precompiled when the first kernel is compiled."""
    from torch._inductor.codecache import CppPythonBindingsCodeCache

    CppPythonBindingsCodeCache.load_pybinding(["float*"], 'extern "C" void kernel(float* out) { out[0] = 1; }\n')


def first_compile():
    import torch

    def small(x, y):
        return (torch.relu(x @ y) + 1).sum(-1), torch.softmax(x * y, -1)

    with torch.no_grad():
        torch.compile(small)(torch.ones(8, 8), torch.ones(8, 8))
