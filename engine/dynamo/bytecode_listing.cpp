#include "engine/dynamo/bytecode_listing.h"

#include <array>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/dynamo/bytecode.h"

namespace kerf::inline dynamo {
namespace {

constexpr std::size_t kLongestConstant = 200;  ///< bytes of a constant that are shown

std::string itemText(PyObject* tuple, int at) {
  if (tuple == nullptr || at < 0 || at >= PyTuple_GET_SIZE(tuple)) return "?";
  return textOf(PyTuple_GET_ITEM(tuple, at));
}

/// repr() of a literal; of anything else its class, for the program's own repr must not run.
std::string constantText(PyObject* value) {
  const bool isLiteral = value == Py_None || value == Py_Ellipsis || PyBool_Check(value) || PyLong_CheckExact(value) ||
                         PyFloat_CheckExact(value) || PyComplex_CheckExact(value) || PyUnicode_CheckExact(value) ||
                         PyBytes_CheckExact(value);
  if (PyCode_Check(value)) return "<code " + textOf(reinterpret_cast<PyCodeObject*>(value)->co_name) + ">";
  if (PyTuple_CheckExact(value)) {
    std::string text;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(value) && text.size() < kLongestConstant; ++k)
      text += (k > 0 ? ", " : "") + constantText(PyTuple_GET_ITEM(value, k));
    return "(" + text + (PyTuple_GET_SIZE(value) == 1 ? ",)" : ")");
  }
  if (!isLiteral) return fmt::format("<{}>", Py_TYPE(value)->tp_name);
  const Ref text = Ref::steal(PyObject_Repr(value));
  if (!text) {
    PyErr_Clear();
    return "?";
  }
  return textOf(text.get());
}

std::string shortened(std::string text) {
  if (text.size() <= kLongestConstant) return text;
  std::size_t end = kLongestConstant;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string constantAt(PyCodeObject* code, int at) {
  if (at < 0 || at >= PyTuple_GET_SIZE(code->co_consts)) return "?";
  return shortened(constantText(PyTuple_GET_ITEM(code->co_consts, at)));
}

std::string nameAt(PyCodeObject* code, int at) { return itemText(code->co_names, at); }
std::string globalAt(PyCodeObject* code, int at) { return itemText(code->co_names, at >> 1); }
std::string variableAt(PyCodeObject* code, int at) { return itemText(code->co_localsplusnames, at); }

std::string binaryAt(PyCodeObject* /*code*/, int at) {
  static constexpr std::array<const char*, 26> signs = {
      "+",  "&",  "//",  "<<",  "@",  "*",  "%",  "|",  "**",  ">>",  "-",  "/",  "^",
      "+=", "&=", "//=", "<<=", "@=", "*=", "%=", "|=", "**=", ">>=", "-=", "/=", "^="};
  return at >= 0 && std::size_t(at) < signs.size() ? signs[std::size_t(at)] : "?";
}

std::string comparisonAt(PyCodeObject* /*code*/, int at) {
  static constexpr std::array<const char*, 6> signs = {"<", "<=", "==", "!=", ">", ">="};
  return at >= 0 && std::size_t(at) < signs.size() ? signs[std::size_t(at)] : "?";
}

std::string negatedAt(PyCodeObject* /*code*/, int at) { return at != 0 ? "not" : ""; }

/// What the argument of an instruction is an index into.
struct ArgumentRule {
  Op op;
  std::string (*text)(PyCodeObject* code, int at);
};
constexpr ArgumentRule kArguments[] = {
    {Op::LOAD_CONST, constantAt},      {Op::KW_NAMES, constantAt},
    {Op::LOAD_GLOBAL, globalAt},       {Op::STORE_GLOBAL, nameAt},
    {Op::DELETE_GLOBAL, nameAt},       {Op::LOAD_NAME, nameAt},
    {Op::STORE_NAME, nameAt},          {Op::DELETE_NAME, nameAt},
    {Op::LOAD_ATTR, nameAt},           {Op::STORE_ATTR, nameAt},
    {Op::DELETE_ATTR, nameAt},         {Op::LOAD_METHOD, nameAt},
    {Op::IMPORT_NAME, nameAt},         {Op::IMPORT_FROM, nameAt},
    {Op::LOAD_FAST, variableAt},       {Op::STORE_FAST, variableAt},
    {Op::DELETE_FAST, variableAt},     {Op::LOAD_DEREF, variableAt},
    {Op::STORE_DEREF, variableAt},     {Op::DELETE_DEREF, variableAt},
    {Op::LOAD_CLOSURE, variableAt},    {Op::MAKE_CELL, variableAt},
    {Op::LOAD_CLASSDEREF, variableAt}, {Op::BINARY_OP, binaryAt},
    {Op::COMPARE_OP, comparisonAt},    {Op::IS_OP, negatedAt},
    {Op::CONTAINS_OP, negatedAt},
};

/// Instructions below this number have no argument (dis.HAVE_ARGUMENT of 3.11).
constexpr int kFirstWithArgument = 90;

std::string argumentText(PyCodeObject* code, const Bytecode& bytecode, const Instruction& instruction) {
  const auto& all = bytecode.instructions;
  if (instruction.target >= 0 && std::size_t(instruction.target) < all.size())
    return fmt::format("to {}", all[std::size_t(instruction.target)].offset);
  for (const ArgumentRule& rule : kArguments)
    if (rule.op == instruction.op) return rule.text(code, instruction.arg);
  return static_cast<int>(instruction.op) >= kFirstWithArgument ? std::to_string(instruction.arg) : std::string();
}

}  // namespace

std::vector<LoggedInstruction> listBytecode(PyCodeObject* code) {
  const Bytecode bytecode = decode(code);
  std::unordered_set<int> targets;
  for (const Instruction& instruction : bytecode.instructions)
    if (instruction.target >= 0) targets.insert(instruction.target);
  for (const ExceptionEntry& handler : bytecode.handlers) targets.insert(handler.target);
  std::vector<LoggedInstruction> rows;
  for (std::size_t k = 0; k < bytecode.instructions.size(); ++k) {
    const Instruction& instruction = bytecode.instructions[k];
    rows.push_back({instruction.offset, instruction.line, std::string(opName(instruction.op)),
                    argumentText(code, bytecode, instruction), targets.contains(static_cast<int>(k))});
  }
  return rows;
}

}  // namespace kerf::inline dynamo
