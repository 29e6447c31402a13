#include "dynamo_program_grammar.h"

#include <map>

namespace kerf {
namespace {

using Texts = std::vector<std::string>;

/// What a program may use: each of these loses the source of a value in a way of its own.
constexpr const char* kHelpers = R"(import torch, contextlib, functools, itertools
COUNT = 0
SCALE = 2.0
STATE = []
class Shape:
    factor = 3
    def __init__(self, k): self.k = k
    @property
    def double(self): return self.k * 2
    def __call__(self, t): return t * self.k
    def __len__(self): return 2
def spread(t, *args, k=1.0, **more):
    for a in args: t = t + a
    return t * k + sum(more.values())
def handed(*args, **more): return spread(*args, **more)
def pairs(t, k):
    yield t
    yield t * k
@contextlib.contextmanager
def scaled(k): yield k + 1
def apply(fn, *args): return fn(*args)
def adder(k):
    def add(t, m=SCALE): return t * m + k
    return add
def chosen(flag, a, b): return a if flag else b
def swap(a, b): return b, a
)";

const std::map<char, Texts>& leaves() {
  static const std::map<char, Texts> rows = {
      {'I', {"n", "2", "len(xs)", "o.count", "x.shape[0]", "len(d)", "int(flag)", "len(key)"}},
      {'F', {"s", "0.5", "d['a']", "o.gain", "SCALE", "float(n)"}},
      {'B', {"flag", "n > 2", "key == 'a'", "key in d", "isinstance(s, float)", "bool(o.log)"}}};
  return rows;
}

const std::map<char, Texts>& branches() {
  static const std::map<char, Texts> rows = {
      {'T',
       {"($T + $T)",
        "($T - $F)",
        "($T * $I)",
        "$T.sin()",
        "torch.relu($T)",
        "torch.where($T > 0, $T, $T)",
        "spread($T, $I, k=$F)",
        "handed($T, $F, b=$F)",
        "o.scale($T)",
        "Shape($I)($T)",
        "($T if $B else $T)",
        "apply(lambda v, w: v * w, $T, $F)",
        "adder($F)($T)",
        "chosen($B, $T, $T)",
        "swap($T, $I)[1]",
        "functools.reduce(lambda a, b: a + b, xs)",
        "sum([v * $I for v in xs])",
        "xs[$I % len(xs)]",
        "functools.partial(spread, k=$F)($T, $I)",
        "torch.stack(xs).sum(0)",
        "max((1, $T), (2, $T))[1]",
        "[v for v in pairs($T, $I)][1]",
        "getattr($T, 'cos')()",
        "torch.clamp($T, min=-$I)",
        "$T.reshape(-1)",
        "torch.cat([$T.reshape(-1)[:1], $T.reshape(-1)[:1]]).sum()"}},
      {'I',
       {"($I + $I)", "($I * 2)", "($I % 3)", "min($I, $I)", "abs($I - 3)", "swap($I, $I)[0]", "chosen($B, $I, $I)",
        "len([v for v in xs if $B])", "Shape($I).double", "len('%s-%s' % ($I, key))", "sum(range($I % 4))",
        "(lambda v: v + $I)($I)", "dict(a=$I, b=$I)['b']", "sorted([$I, $I])[0]", "divmod($I, 3)[1]", "Shape.factor",
        "apply(lambda *v: len(v), $I, $I)"}},
      {'F',
       {"($F + $F)", "($F * 0.5)", "float($I)", "d.get(key, $F)", "chosen($B, $F, $F)", "max($F, $F)",
        "($F if $B else $F)", "sum(d.values())", "[$F, $F][$I % 2]", "round($F, 2)"}},
      {'B',
       {"($I > $I)", "($B and $B)", "($B or $B)", "(not $B)", "any([$B, $B])", "($F < $F)", "('z' in d)",
        "(key, $B) == ('a', True)"}}};
  return rows;
}

/// Lines of a statement; `$N` is a new tensor's name, `$1` a new name, `>` a nested block.
const Texts kStatements = {
    "$N = $T",
    "$N = $T",
    "if $B:\n>\nelse:\n>",
    "for $1 in range($I % 3):\n>",
    "for $1 in xs:\n    x = x + $1 * $I",
    "for $1, $2 in d.items():\n    x = x * $2 + len($1)",
    "for $1, $2 in enumerate(xs):\n    x = x + $1 * $2",
    "for $1, $2 in zip(xs, (1.0, $F)):\n    x = x + $1 * $2",
    "xs.append($T)",
    "xs[$I % len(xs)] = $T",
    "d['z'] = $F",
    "d[key] = $F",
    "o.count += $I % 3",
    "o.gain = $F",
    "o.log.append($I)",
    "STATE.append($I)",
    "COUNT += $I",
    "$1 = ($T, $I, $F)\n$N = $1[0] * $1[1] + $1[2]",
    "$1, $2 = $I, $T\n$N = $1 * $2",
    "$1, *$2 = [$I, $I, $I]\n$N = x * len($2) + $1",
    "def $1(v, k=$I): return v * k + n\n$N = $1($T)",
    "$1 = $I\ndef $2():\n    nonlocal $1\n    $1 += 1\n    return $1\n$N = $T * $2() + $1",
    "for $1 in pairs($T, $F): y = y + $1",
    "with torch.no_grad():\n>",
    "with scaled($F) as $1:\n    $N = $T * $1",
    "try:\n    if $B: raise ValueError($I)\n    x = x + 1\nexcept ValueError as $1:\n    x = x * $1.args[0]",
    "torch._dynamo.graph_break()",
    "$1 = {k: v * $F for k, v in d.items()}\n$N = $T * $1['a']",
    "$1 = 0\nwhile $1 < $I % 3:\n    $1 += 1\n    x = x + $1",
    "s = $F",
    "n = $I % 5",
    "flag = $B",
    "$N = x * torch.tensor($F)",
    "assert $B or True, key",
    "$1 = [*xs, $T]\n$N = $1[-1] + len($1)",
    "$1 = list(itertools.accumulate([$I, $I]))\n$N = x + $1[-1]",
    "match $I % 3:\n    case 0: x = x + 1\n    case _: x = x - 1",
    "$N = spread(*(x, $I), **{'k': $F})",
    "$N = spread($T, *[$I, $F], **d)",
    "$1 = d.pop('a', $F)\nd['a'] = $1 + $F\n$N = x * $1",
    "try:\n>\nfinally:\n    y = y + $I",
    "for $1 in range(4):\n    if $1 == $I: continue\n    if $1 > $I: break\n    x = x + $1\nelse:\n    x = x * 2",
    "if ($1 := $I) > 1: x = x + $1",
    "if 0 < $I <= 4: x = x - 1",
    "$1 = sorted(d, key=lambda k: d[k])\n$N = x * len($1[0]) + d[$1[0]]",
    "$1 = {$I, $I, 3}\n$N = x * len($1) + ($I in $1)",
    "$1 = [lambda v, k=k: v * k for k in (1, $I)]\n$N = $1[0]($T) + $1[-1]($T)",
    "$1 = zip(*[(x, $I), (y, $F)])\n$N = sum([a for a, b in $1])",
    "$1 = sum(v * $I for v in xs)\n$N = x + $1",
    "xs.insert(0, $T)\nx = x + xs.pop()",
    "$1 = [(k, v) for k, v in d.items()]\n$N = x + $1[0][1] + len($1)",
    "$1 = Shape($I)\n$1.k += $I\n$N = $1($T)",
    "$1 = Shape.factor if $B else $I\n$N = x * $1",
    "o.label = key + str($I)\n$N = x * len(o.label)",
    "del d['a']\nd['a'] = $F",
    "$1 = $T\n$1 += $F\ny = y + $1",
    "x, y = y, x"};

std::string indented(const std::string& text, int indent) {
  std::string out;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += std::string(static_cast<std::size_t>(indent) * 4, ' ') + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

void replaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

/// The same everywhere, which std::uniform_int_distribution is not.
std::size_t ProgramGrammar::below(std::size_t count) { return m_random() % count; }

std::string ProgramGrammar::oneOf(const Texts& patterns, int depth) {
  return filled(patterns[below(patterns.size())], depth);
}

std::string ProgramGrammar::filled(const std::string& pattern, int depth) {
  std::string out;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    const bool isHole = pattern[k] == '$' && k + 1 < pattern.size() && std::string("TIFB").contains(pattern[k + 1]);
    if (isHole)
      out += expression(pattern[++k], depth + 1);
    else
      out += pattern[k];
  }
  return out;
}

std::string ProgramGrammar::expression(char type, int depth) {
  if (depth > 2 || chance(35))
    return type == 'T' ? m_tensors[below(m_tensors.size())] : oneOf(leaves().at(type), depth);
  return oneOf(branches().at(type), depth);
}

std::string ProgramGrammar::nested(int indent) {
  // Names of a block that may not run are not used after it.
  const Texts before = m_tensors;
  ++m_depth;
  std::string text = block(indent, 1 + static_cast<int>(below(2)));
  --m_depth;
  m_tensors = before;
  return text;
}

std::string ProgramGrammar::statement(int indent) {
  std::string pattern = kStatements[below(kStatements.size())];
  while (m_depth > 1 && pattern.contains('>')) pattern = kStatements[below(kStatements.size())];
  const bool isNew = pattern.contains("$N");
  const std::string name = "t" + std::to_string(++m_names);
  for (const char* hole : {"$1", "$2"})
    if (pattern.contains(hole)) replaceAll(pattern, hole, "v" + std::to_string(++m_names));
  replaceAll(pattern, "$N", name);
  std::string out;
  std::size_t at = 0;
  while (at < pattern.size()) {
    const std::size_t end = std::min(pattern.find('\n', at), pattern.size());
    const std::string line = pattern.substr(at, end - at);
    out += line == ">" ? nested(indent + 1) : indented(filled(line, 0), indent);
    at = end + 1;
  }
  if (isNew) m_tensors.push_back(name);
  return out;
}

std::string ProgramGrammar::block(int indent, int statements) {
  std::string text;
  for (int k = 0; k < statements; ++k) text += statement(indent);
  return text;
}

std::string ProgramGrammar::program() {
  m_tensors = {"x", "y"};
  std::string text = kHelpers;
  text += "def f(x, y, n, s, flag, key, xs, d, o):\n    global COUNT\n";
  text += block(1, 4 + static_cast<int>(below(5)));
  static const Texts results = {"    return x, $T, $I\n", "    return {'a': $T, 'b': (xs, n, s)}\n",
                                "    return [$T, y, key, flag, d]\n", "    return $T\n", "    return o, $F, $T\n"};
  return text + oneOf(results, 0);
}

}  // namespace kerf
