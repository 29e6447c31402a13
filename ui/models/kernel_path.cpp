#include "ui/models/kernel_path.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <QCoreApplication>
#include <QFileInfo>
#include <QRegularExpression>

#include "ui/models/theme.h"

namespace kerf::ui::inline models {
namespace {

using workbench::CodeSpan;

QString tr(const char* said) { return QCoreApplication::translate("KernelPath", said); }

/// The source line of a stack trace's innermost frame, which is its last line.
QString codeOf(const NodeDoc& node) {
  const auto lines = text(node.stackTrace).split('\n', Qt::SkipEmptyParts);
  const auto last = lines.isEmpty() ? QString() : lines.last().trimmed();
  if (last.startsWith("File ")) return {};
  const int code = int(last.indexOf("code: "));
  return code >= 0 ? last.mid(code + 6) : last;
}

std::vector<int> placesOf(const GraphDoc& graph, const std::vector<std::string>& names) {
  std::vector<int> places;
  for (const auto& name : names)
    if (const int node = graph.find(name); node >= 0) places.push_back(node);
  return places;
}

const CodeSpan* definitionOf(const workbench::RecordedProgram& program, const std::string& node) {
  const auto found = std::ranges::find_if(program.spans, [&](const CodeSpan& span) {
    return span.kind == CodeSpan::Kind::Definition && std::ranges::find(span.nodes, node) != span.nodes.end();
  });
  return found == program.spans.end() ? nullptr : &*found;
}

const CodeSpan* callOf(const workbench::RecordedProgram& program, const std::string& node) {
  const auto found = std::ranges::find_if(program.spans, [&](const CodeSpan& span) {
    return span.kind == CodeSpan::Kind::Call && std::ranges::find(span.nodes, node) != span.nodes.end();
  });
  return found == program.spans.end() ? nullptr : &*found;
}

/// Inner spans come after outer ones, and say more.
void addSpans(const GraphDoc& graph, const std::vector<CodeSpan>& spans, int offset, PathColumn& column) {
  for (const auto& span : spans) {
    const auto nodes = placesOf(graph, span.nodes);
    for (int line = span.first - offset; line <= span.last - offset && !nodes.empty(); ++line)
      if (line >= 0 && line < int(column.nodes.size())) column.nodes[std::size_t(line)] = nodes;
  }
}

PathColumn withoutSource(const GraphDoc& graph) {
  PathColumn column{tr("Python, as the stack traces have it"), {}, {}, {}};
  std::map<std::pair<std::string, int>, std::size_t> known;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    if (node.line <= 0) continue;
    const auto [place, isNew] = known.try_emplace({node.file, node.line}, column.nodes.size());
    if (isNew) {
      column.lines << QString("%1:%2  %3").arg(QFileInfo(text(node.file)).fileName()).arg(node.line).arg(codeOf(node));
      column.nodes.emplace_back();
    }
    column.nodes[place->second].push_back(int(i));
  }
  if (column.lines.isEmpty())
    column.missing = tr("The graph's nodes have no stack traces: record it with TORCH_TRACE, or export it in Python.");
  return column;
}

}  // namespace

int PathColumn::lineOf(int node) const {
  if (const auto call = calls.find(node); call != calls.end()) return call->second;
  int best = -1;
  std::size_t fewest = 0;
  for (std::size_t line = 0; line < nodes.size(); ++line) {
    const bool has = std::ranges::find(nodes[line], node) != nodes[line].end();
    if (!has || (best >= 0 && nodes[line].size() >= fewest)) continue;
    best = int(line);  // a line of this node alone says more than one of a whole kernel
    fewest = nodes[line].size();
  }
  return best;
}

std::string sourceFileOf(const GraphDoc& graph) {
  std::map<std::string, int> counts;
  for (const auto& node : graph.nodes)
    if (node.line > 0) ++counts[node.file];
  const auto most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  return most == counts.end() ? std::string() : most->first;
}

PathColumn pythonColumn(const GraphDoc& graph, const std::string& file, const QString& source) {
  if (source.isEmpty()) return withoutSource(graph);
  PathColumn column{QFileInfo(text(file)).fileName(), source.split('\n'), {}, {}};
  column.nodes.resize(std::size_t(column.lines.size()));
  bool changed = false;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    if (node.file != file || node.line <= 0 || node.line > int(column.lines.size())) continue;
    column.nodes[std::size_t(node.line) - 1].push_back(int(i));
    const auto recorded = codeOf(node);
    changed |= !recorded.isEmpty() && column.lines[node.line - 1].trimmed() != recorded;
  }
  if (changed) column.title += tr("  (changed since it was recorded)");
  return column;
}

PathColumn nodeColumn(const GraphDoc& graph) {
  PathColumn column{tr("FX nodes of %1").arg(text(graph.title)), texts(graph.code), {}, {}};
  column.nodes.resize(graph.code.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (const int line = graph.nodes[i].codeLine; line >= 0 && line < int(column.nodes.size()))
      column.nodes[std::size_t(line)].push_back(int(i));
  return column;
}

PathColumn codeColumn(const GraphDoc& graph, const workbench::RecordedProgram& program) {
  const auto name = text(program.name.substr(program.name.rfind('/') + 1));
  PathColumn column{tr("Inductor: %1").arg(program.part.empty() ? name : text(program.part) + ", " + name),
                    text(program.text).split('\n'),
                    {},
                    {}};
  column.nodes.resize(std::size_t(column.lines.size()));
  addSpans(graph, program.spans, 0, column);
  for (const auto& span : program.spans)
    if (span.kind == CodeSpan::Kind::Call)
      for (const int node : placesOf(graph, span.nodes)) column.calls.try_emplace(node, span.last);
  return column;
}

PathColumn kernelColumn(const GraphDoc& graph, const workbench::RecordedProgram& program, int node) {
  if (node < 0) return {tr("Kernel"), {}, {}, tr("Select a node or a line: its kernel appears here.")};
  const auto& name = graph.nodes[std::size_t(node)].name;
  const auto* definition = definitionOf(program, name);
  if (!definition) {
    const auto* call = callOf(program, name);
    return {tr("Kernel"),
            {},
            {},
            call ? tr("%1 is a library call: there is no generated code.").arg(text(call->kernel))
                 : tr("%1 has no kernel of its own: it is a view, an input, or became part of other nodes.")
                       .arg(text(name))};
  }
  const auto lines = text(program.text).split('\n');
  PathColumn column{
      text(definition->kernel), lines.mid(definition->first, definition->last - definition->first + 1), {}, {}};
  column.nodes.resize(std::size_t(column.lines.size()));
  addSpans(graph, program.spans, definition->first, column);
  return column;
}

OwnKernel ownKernel(const GraphDoc& graph, const workbench::CompileDoc& compiled, int node) {
  static const QRegularExpression value(R"(\b(?:load|store|buffer) ([A-Za-z_]\w*))");
  const QString said =
      !compiled.error.empty() ? tr("Not compiled: %1").arg(text(compiled.error))
      : node < 0
          ? tr("Select a node or a line: its kernel appears here.")
          : tr("%1 has no kernel of its own: it is a view or an input.").arg(text(graph.nodes[std::size_t(node)].name));
  OwnKernel own{{tr("Kerf: loop IR"), {}, {}, said}, {tr("Kerf: LLVM IR"), {}, {}, said}};
  if (node < 0) return own;
  const auto& name = graph.nodes[std::size_t(node)].name;
  const auto has = [&](const std::vector<std::string>& names) { return std::ranges::find(names, name) != names.end(); };
  const auto found = std::ranges::find_if(
      compiled.kernels, [&](const KernelDoc& kernel) { return has(kernel.nodes) || has(kernel.capturedNodes); });
  if (found == compiled.kernels.end()) return own;
  own.loops.title = tr("Kerf: %1").arg(text(found->name));
  if (found->loopIr.empty()) {
    own.loops.missing = own.code.missing =
        tr("%1 runs as a library call (%2): there is no generated code.").arg(text(found->name), text(found->reason));
    return own;
  }
  own.loops.lines = text(found->loopIr).split('\n');
  for (const auto& line : own.loops.lines) {
    auto& nodes = own.loops.nodes.emplace_back();
    for (auto match = value.globalMatch(line); match.hasNext();)
      if (const int place = graph.find(match.next().captured(1).toStdString()); place >= 0) nodes.push_back(place);
  }
  own.code.lines = text(found->code).split('\n');
  own.code.nodes.resize(std::size_t(own.code.lines.size()));
  for (std::size_t i = 0; i < own.code.nodes.size() && i < found->codeLines.size(); ++i)
    if (const int from = found->codeLines[i] - 1; from >= 0 && from < int(own.loops.nodes.size()))
      own.code.nodes[i] = own.loops.nodes[std::size_t(from)];
  return own;
}

QColor pathColor(const GraphDoc& graph, int node) {
  const auto& doc = graph.nodes[std::size_t(node)];
  constexpr double turn = 0.61803398875;  // neighbours are far apart
  const double place = doc.line > 0 ? doc.line + double(std::hash<std::string>()(doc.file) % 97) : node;
  const double hue = place * turn - std::floor(place * turn);
  return QColor::fromHsvF(float(hue), theme().dark ? 0.55f : 0.75f, theme().dark ? 0.95f : 0.72f);
}

}  // namespace kerf::ui::inline models
