#include <algorithm>
#include <atomic>
#include <cctype>

#include "engine/ir/graph.h"
#include "engine/ir/identifier_characters.h"
#include "engine/ir/python_expression.h"
#include "engine/support/utf8.h"

namespace kerf::inline ir {
namespace {

const std::unordered_set<std::string_view>& keywords() {
  static const std::unordered_set<std::string_view> words = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  return words;
}

const std::unordered_set<std::string_view>& builtins() {
  static const std::unordered_set<std::string_view> names = {
      "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError",
      "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError", "ConnectionAbortedError",
      "ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "DeprecationWarning", "EOFError", "Ellipsis",
      "EncodingWarning", "EnvironmentError", "Exception", "ExceptionGroup", "FileExistsError", "FileNotFoundError",
      "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError", "ImportError", "ImportWarning",
      "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt",
      "LookupError", "MemoryError", "ModuleNotFoundError", "NameError", "NotADirectoryError", "NotImplemented",
      "NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning", "PermissionError",
      "ProcessLookupError", "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning",
      "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError",
      "TimeoutError", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
      "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError", "Warning", "ZeroDivisionError",
      "__build_class__", "__debug__", "__doc__", "__import__", "__loader__", "__name__", "__package__", "__spec__",
      "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool", "breakpoint", "bytearray", "bytes", "callable",
      "chr", "classmethod", "compile", "complex", "copyright", "credits", "delattr", "dict", "dir", "divmod",
      "enumerate", "eval", "exec", "exit", "filter", "float", "format", "frozenset", "getattr", "globals", "hasattr",
      "hash", "help", "hex", "id", "input", "int", "isinstance", "issubclass", "iter", "len", "license", "list",
      "locals", "map", "max", "memoryview", "min", "next", "object", "oct", "open", "ord", "pow", "print", "property",
      "quit", "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum",
      "super", "tuple", "type", "vars", "zip",
      // names that every FX graph binds for itself
      "inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"};
  return names;
}

bool isNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Runs of illegal characters become one '_' each; what cannot start a name gets a '_' in front.
std::string legalName(std::string_view candidate) {
  std::string out;
  bool replacing = false;
  for (const char c : candidate) {
    const bool legal = isNameChar(c) && static_cast<unsigned char>(c) < 0x80;
    if (legal || !replacing) out += legal ? c : '_';
    replacing = !legal;
  }
  if (out.empty()) out = "_unnamed";
  if (isDigit(out.front())) out.insert(out.begin(), '_');
  return out;
}

/// "add_12" → ("add", 12); no number, or one too long to count with, gives -1.
std::pair<std::string, std::int64_t> splitSuffix(const std::string& name) {
  std::size_t digits = 0;
  while (digits < name.size() && isDigit(name[name.size() - 1 - digits])) ++digits;
  const std::size_t base = name.size() - digits;
  if (digits == 0 || digits > 15 || base < 2 || name[base - 1] != '_') return {name, -1};
  return {name.substr(0, base - 1), std::stoll(name.substr(base))};
}

/// Whether counting gives this name: not "add" nor "add_012".
bool isCounted(std::string_view name, std::string_view base, std::int64_t number) {
  return number == 0 ? name.size() == base.size() + 2 : number > 0 && name[base.size() + 1] != '0';
}

std::string lastComponent(std::string_view text, int count) {
  std::size_t at = text.size();
  for (; count > 0 && at != std::string_view::npos && at > 0; --count) at = text.rfind('.', at - 1);
  return std::string(at == std::string_view::npos || at == 0 ? text : text.substr(at + 1));
}

std::string snakeCase(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool upper = text[i] >= 'A' && text[i] <= 'Z';
    if (upper && i > 0 && text[i - 1] >= 'a' && text[i - 1] <= 'z') out += '_';
    out += upper ? char(text[i] - 'A' + 'a') : text[i];
  }
  return out;
}

}  // namespace

bool isPythonIdentifier(std::string_view text) {
  if (text.empty() || isDigit(text.front()) || keywords().contains(text)) return false;
  const auto isAscii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::ranges::all_of(text, [&](char c) { return isNameChar(c) || !isAscii(c); })) return false;
  if (std::ranges::all_of(text, isAscii)) return true;
  for (std::size_t at = 0; at < text.size();) {
    const bool isFirst = at == 0;
    if (isAscii(text[at])) {
      ++at;
      continue;
    }
    const CodePoint point = firstCodePoint(text.substr(at));
    if (point.bytes == 0 || !(isFirst ? startsIdentifier(point.value) : continuesIdentifier(point.value))) return false;
    at += point.bytes;
  }
  return isNormalForm(text);
}

bool isReservedPythonName(std::string_view text) { return keywords().contains(text) || builtins().contains(text); }

std::string nameFromTarget(Opcode op, std::string_view target) {
  std::string name(target);
  if (op == Opcode::CallFunction) {
    const bool overload = target.starts_with("torch.ops.") && std::ranges::count(target, '.') >= 4;
    name = lastComponent(target, overload ? 2 : 1);
  } else if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) {
    name = name.substr(2, name.size() - 4);
  }
  return snakeCase(name);
}

NameSpace::Tables& NameSpace::tables() {
  if (!m_tables) m_tables = std::make_shared<Tables>();
  if (m_tables.use_count() > 1) m_tables = std::make_shared<Tables>(*m_tables);
  std::atomic_thread_fence(std::memory_order_acquire);
  return *m_tables;
}

void NameSpace::Tables::take(const std::string& name) {
  if (!used.insert(name).second) return;
  if (const auto [base, number] = splitSuffix(name); isCounted(name, base, number)) numbers[base].insert(number);
}

void NameSpace::Tables::drop(const std::string& name) {
  if (used.erase(name) == 0) return;
  if (const auto [base, number] = splitSuffix(name); isCounted(name, base, number)) numbers[base].erase(number);
}

/// Of base_1, base_2, …: the first free name after `number`, which becomes its number.
std::string NameSpace::Tables::firstFree(const std::string& base, std::int64_t& number) const {
  const auto known = numbers.find(base);
  std::string name;
  do {
    number = known == numbers.end() ? number + 1 : known->second.nextFree(number);
    name = base + "_" + std::to_string(number);
  } while (used.contains(name));
  return name;
}

std::string NameSpace::create(std::string_view candidate) {
  std::string name = legalName(candidate);
  auto [base, number] = splitSuffix(name);
  Tables& tables = this->tables();
  if (number < 0 || tables.used.contains(name)) {
    const auto known = tables.lastSuffix.find(name);
    number = known == tables.lastSuffix.end() ? 0 : known->second;
    if (isReservedPythonName(name)) name = base + "_" + std::to_string(++number);
  }
  if (tables.used.contains(name)) name = tables.firstFree(base, number);
  tables.take(name);
  tables.lastSuffix[base] = number;
  return name;
}

bool NameSpace::claim(std::string_view name) {
  if (!isPythonIdentifier(name) || taken(name)) return false;
  Tables& tables = this->tables();
  std::string text(name);
  auto [base, number] = splitSuffix(text);
  if (number >= 0) tables.lastSuffix[base] = number;
  tables.take(text);
  return true;
}

std::string NameSpace::createLike(std::string_view name) {
  const std::string base = splitSuffix(legalName(name)).first;
  std::int64_t& number = tables().lastLike[base];
  for (;;) {
    std::string candidate = base + "_" + std::to_string(++number);
    if (claim(candidate)) return candidate;
  }
}

void NameSpace::release(std::string_view name) { tables().drop(std::string(name)); }

bool NameSpace::taken(std::string_view name) const { return m_tables && m_tables->used.contains(std::string(name)); }

}  // namespace kerf::inline ir
