// Generated programs: captured and run eagerly beside each other, with arguments that differ from call to call.
#include <cstdlib>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dynamo_program_grammar.h"
#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

/// Runs each program of PROGRAMS twice, once compiled, on arguments of which one or two differ from call to call.
constexpr const char* kDriver = R"(
import copy, json, torch
class Box:
    def __init__(self): self.count, self.gain, self.log = 1, 1.5, []
    def scale(self, t): return t * self.gain
def arguments(call):
    torch.manual_seed(call)
    size = 3 if call != 4 else 5
    box = Box()
    if call == 3: box.gain, box.log = 2.5, [4]
    xs = [torch.randn(size) for _ in range(2 if call != 5 else 3)]
    d = {'a': 0.5 if call != 6 else 0.75}
    if call == 7: d['q'] = 1.25
    return [torch.randn(size), torch.randn(size, requires_grad=call == 8), 3 if call != 1 else 4, 1.5 if call != 2 else 2.0,
            call != 3, 'a' if call != 2 else 'q', xs, d, box]
def same(a, b):
    if isinstance(a, torch.Tensor):
        return (isinstance(b, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape
                and a.requires_grad == b.requires_grad and bool(torch.allclose(a, b, equal_nan=True)))
    if type(a) is not type(b): return False
    if isinstance(a, (tuple, list)): return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict): return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, Box): return same(vars(a), vars(b))
    return a == b or (a != a and b != b)
def outcome(fn, args):
    try: return fn(*args)
    except torch._dynamo.exc.TorchRuntimeError as e: return str(e).partition('): got ')[2].partition('(')[0]
    except Exception as e: return type(e).__name__
values = errors = 0
for number, text in enumerate(PROGRAMS):
    code = compile(text, f'p{number}.py', 'exec')
    eager, traced = {'__name__': '__main__'}, {'__name__': '__main__'}
    exec(code, eager)
    exec(compile(text, f'p{number}.py', 'exec'), traced)
    g = torch.compile(traced['f'])
    for call in (0, 0, 1, 2, 3, 4, 5, 6, 7, 8):
        if call == 6: eager['SCALE'] = traced['SCALE'] = 3.0
        mine, theirs = arguments(call), arguments(call)
        wanted, got = outcome(eager['f'], mine), outcome(g, theirs)
        values, errors = values + (not isinstance(wanted, str)), errors + isinstance(wanted, str)
        # A graph that raises has changed nothing: what the program did before is not done, as in PyTorch.
        if isinstance(wanted, str) and wanted == got: break
        state = [eager['COUNT'], eager['STATE']], [traced['COUNT'], traced['STATE']]
        if not (same(wanted, got) and same(mine, theirs) and same(*state)):
            print(f'program {number}, call {call}: {wanted} {got}\n{mine}\n{theirs}\n{state}\n{text[text.index("def f("):]}')
            break
if errors * 3 > values: print(f'{values} calls gave values and {errors} errors: {wanted}')
)";

std::string runSeeds(unsigned first, unsigned count) {
  nlohmann::json programs = nlohmann::json::array();
  for (unsigned seed = first; seed < first + count; ++seed) programs.push_back(ProgramGrammar(seed).program());
  const ProgramRequest request{.text = "import json\nPROGRAMS = json.loads(" +
                                       nlohmann::json(programs.dump()).dump(-1, ' ', true) + ")\n" + kDriver,
                               .name = "fuzz.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

TEST(DynamoFuzz, GeneratedProgramsGiveEagersValues) { EXPECT_EQ(runSeeds(1, 60), ""); }

/// A longer run: KERF_FUZZ_PROGRAMS=first,count.
TEST(DynamoFuzz, AsManyProgramsAsAskedGiveEagersValues) {
  const char* asked = std::getenv("KERF_FUZZ_PROGRAMS");
  if (asked == nullptr) GTEST_SKIP() << "set KERF_FUZZ_PROGRAMS=first,count for a longer run";
  const std::string text = asked;
  EXPECT_EQ(runSeeds(unsigned(std::stoul(text)), unsigned(std::stoul(text.substr(text.find(',') + 1)))), "");
}

/// Functions whose code was changed at random, or is nothing but random bytes.
constexpr const char* kRandomCode = R"(
import random, torch, types
random.seed(SEED)
def helper(x, *more, **named): return x
def base(x, n=2):
    out = []
    try:
        for k in range(n):
            with torch.no_grad(): x = x * k + 1
            out.append([v for v in (x, n)])
        return helper(*out, n=n), {'a': x.sum()}
    except ValueError as e:
        return e
def pair(x): yield x
for number in range(30):
    of = random.choice((base, helper, pair)).__code__
    size = random.randrange(1, 40) * 2
    code = bytearray(of.co_code) if number % 3 else bytearray(random.randrange(256) for _ in range(size))
    for _ in range(random.randrange(1, 5)): code[random.randrange(len(code))] = random.randrange(256)
    changes = dict(co_code=bytes(code))
    if number % 5 == 0: changes['co_exceptiontable'] = bytes(random.randrange(256) for _ in range(8))
    if number % 7 == 0: changes['co_stacksize'] = random.randrange(0, 3)
    if number % 4 == 0: changes['co_flags'] = of.co_flags ^ (1 << random.randrange(10))
    try:
        f = types.FunctionType(of.replace(**changes), globals(), 'f', of.co_consts[:0] or None)
        torch.compile(f)(torch.ones(2))
    except BaseException:
        pass
print('whole')
)";

TEST(DynamoFuzz, RandomCodeNeverCrashesTheParent) {
  for (int seed = 1; seed <= 6; ++seed) {
    ProgramRequest request{.text = "SEED = " + std::to_string(seed) + kRandomCode, .name = "code.py"};
    request.limits.timeout = std::chrono::seconds(5);
    request.limits.memoryBytes = 2LL << 30;
    const auto answer = runProgram(request, dynamoEnvironment());
    if (answer) continue;
    // CPython trusts code objects: the child may die, which is an error with its name.
    EXPECT_EQ(answer.error().code, ErrorCode::RuntimeFailed) << answer.error().text();
    EXPECT_TRUE(answer.error().message.starts_with("the program ")) << answer.error().message;
  }
}

}  // namespace
}  // namespace kerf
