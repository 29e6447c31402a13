#include "engine/codegen_llvm/source_lines.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/Support/raw_ostream.h>

#include <cctype>
#include <charconv>

namespace kerf::inline codegen_llvm {

using namespace llvm;

namespace {

constexpr std::string_view debugMark = ", !dbg !", functionMark = " !dbg !";

/// Takes "!dbg !12" out of a line.
std::string withoutDebug(std::string_view line) {
  for (const std::string_view mark : {debugMark, functionMark}) {
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    std::size_t end = at + mark.size();
    while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
    return std::string(line.substr(0, at)) + std::string(line.substr(end));
  }
  return std::string(line);
}

template <class Take>
void forEachLine(std::string_view text, Take take) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    take(text.substr(at, end - at));
    at = end + 1;
  }
}

/// Of "\t.loc\t1 6 0": 6.
int locatedLine(std::string_view directive) {
  constexpr std::string_view mark = "\t.loc\t";
  std::string_view rest = directive.substr(mark.size());
  rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
  int line = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), line);
  return line;
}

bool isDirective(std::string_view line) { return line.starts_with("\t."); }

/// Labels that only debug information needs.
bool isHelperLabel(std::string_view line) {
  return line.starts_with(".Lfunc_") || line.starts_with(".Ltmp") || line.starts_with(".Lloh");
}

}  // namespace

SourceLines::SourceLines(Module& module) : m_builder(module), m_file(m_builder.createFile("loop_ir", "")) {
  module.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
  m_builder.createCompileUnit(dwarf::DW_LANG_C, m_file, "kerf", true, "", 0, "", DICompileUnit::DebugDirectivesOnly);
}

void SourceLines::begin(Function& function) {
  auto* type = m_builder.createSubroutineType(m_builder.getOrCreateTypeArray({}));
  m_function = m_builder.createFunction(m_file, function.getName(), function.getName(), m_file, 1, type, 1,
                                        DINode::FlagZero, DISubprogram::SPFlagDefinition);
  function.setSubprogram(m_function);
}

DebugLoc SourceLines::at(int line) const {
  return DILocation::get(m_function->getContext(), unsigned(line), 0, m_function);
}

LineScope::LineScope(IRBuilder<>& builder, const SourceLines* lines, int line)
    : m_builder(builder), m_before(builder.getCurrentDebugLocation()) {
  if (lines != nullptr) builder.SetCurrentDebugLocation(lines->at(line));
}

/// Every instruction of a kernel is printed on one line, in order.
LinedText irText(const Function& function) {
  std::string printed;
  raw_string_ostream stream(printed);
  function.print(stream);
  LinedText lined;
  auto next = inst_begin(function);
  forEachLine(printed, [&](std::string_view line) {
    const bool isInstruction = line.starts_with("  ") && next != inst_end(function);
    const DebugLoc& from = isInstruction ? next->getDebugLoc() : DebugLoc();
    lined.lines.push_back(isInstruction && from ? int(from.getLine()) : 0);
    if (isInstruction) ++next;
    lined.text += withoutDebug(line) + "\n";
  });
  return lined;
}

LinedText assemblyOf(const std::string& moduleText, const std::string& function) {
  LinedText lined;
  bool inside = false;
  int from = 0;
  forEachLine(moduleText, [&](std::string_view line) {
    if (line.starts_with(function + ":")) {
      inside = true;
      from = 0;
    }
    if (line.starts_with(".Lfunc_end")) inside = false;
    if (!inside) return;
    if (line.starts_with("\t.loc\t")) from = locatedLine(line);
    if (isDirective(line) || isHelperLabel(line) || line.empty()) return;
    lined.text += std::string(line) + "\n";
    lined.lines.push_back(line.starts_with('\t') ? from : 0);
  });
  return lined;
}

}  // namespace kerf::inline codegen_llvm
