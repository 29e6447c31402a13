// Which module each node computes for. Recorded paths are taken as they are; elsewhere parameters name the modules that
// use them, and what lies between two of them belongs to what both have in common.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "ui/layout/group_tree.h"
#include "ui/layout/repeats.h"

namespace kerf::ui::inline layout {
namespace {

using workbench::GraphDoc, workbench::NodeDoc, workbench::NodeKind;

bool isInput(const NodeDoc& node) { return node.kind == NodeKind::Input || node.kind == NodeKind::Parameter; }

std::vector<std::string> partsOf(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('.', at), path.size());
    if (end > at) parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool isNumber(const std::string& part) {
  return !part.empty() && std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "layers.0.q" and "layers.0.k" → "layers.0"; between two blocks of a list it is the first: its end is a sum of what
/// went around it.
std::string between(const std::string& before, const std::string& after) {
  const auto one = partsOf(before), two = partsOf(after);
  std::string path;
  std::size_t i = 0;
  for (; i < one.size() && i < two.size() && one[i] == two[i]; ++i) path += (path.empty() ? "" : ".") + one[i];
  for (std::size_t k = i; k < one.size(); ++k)
    if (isNumber(one[k])) {
      while (k + 1 < one.size() && isNumber(one[k + 1])) ++k;  // "features.1.2"
      for (; i <= k; ++i) path += (path.empty() ? "" : ".") + one[i];
      break;
    }
  return path;
}

/// "layers.3" → "layers"; "" for what is no block of a list.
std::string listOf(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot != std::string::npos && isNumber(path.substr(dot + 1)) ? path.substr(0, dot) : std::string();
}

/// Names of the weights' own modules, where a capture says no more: a get_attr's target "layers.0.fc.weight", or a
/// placeholder of an exported program, "p_layers_0_fc_weight", whose underscores may stand for dots or not: those around
/// numbers do.
std::string moduleByName(const NodeDoc& node) {
  if (node.kind == NodeKind::Parameter) return node.target.substr(0, node.target.find_last_of('.') + 1);
  if (!node.name.starts_with("p_") && !node.name.starts_with("b_")) return {};
  std::string path;
  bool wasNumber = false;
  std::vector<std::string> parts;
  for (std::size_t at = 2; at <= node.name.size();) {
    const auto end = std::min(node.name.find('_', at), node.name.size());
    parts.push_back(node.name.substr(at, end - at));
    at = end + 1;
  }
  parts.pop_back();  // the weight's own name
  for (const auto& part : parts) {
    if (!path.empty()) path += isNumber(part) || wasNumber ? "." : "_";
    path += part;
    wasNumber = isNumber(part);
  }
  return path;
}

/// "code: logits = self.lm_head(hidden)" → "lm_head"; empty for other lines.
std::string calledModule(const std::string& stackTrace) {
  constexpr std::string_view mark = "self.";
  const auto code = stackTrace.rfind("code:");
  const auto at = code == std::string::npos ? code : stackTrace.find(mark, code);
  if (at == std::string::npos) return {};
  const auto begin = at + mark.size();
  auto end = begin;
  while (end < stackTrace.size() &&
         (std::isalnum(static_cast<unsigned char>(stackTrace[end])) || stackTrace[end] == '_'))
    ++end;
  return end < stackTrace.size() && stackTrace[end] == '(' ? stackTrace.substr(begin, end - begin) : std::string();
}

class Inference {
 public:
  explicit Inference(const GraphDoc& graph)
      : m_graph(graph), m_paths(graph.nodes.size()), m_backward(graph.nodes.size(), 0), m_known(graph.nodes.size(), 0) {
    findBackward();
    for (int i = 0; i < int(graph.nodes.size()); ++i)
      if (!isInput(node(i)) && node(i).kind != NodeKind::Output)
        (m_backward[std::size_t(i)] ? m_later : m_calls).push_back(i);
  }

  std::vector<std::string> label(std::vector<std::string> labels) {
    m_paths = std::move(labels);
    nameRegions();
    return std::move(m_paths);
  }

  std::vector<std::string> run() {
    anchor();
    fillAlongLines();
    fillBetween();
    fillEnd();
    followForward();
    nameRegions();
    return std::move(m_paths);
  }

 private:
  const NodeDoc& node(int i) const { return m_graph.nodes[std::size_t(i)]; }
  std::string& path(int i) { return m_paths[std::size_t(i)]; }
  bool known(int i) const { return m_known[std::size_t(i)] != 0; }

  /// From the first call on that depends on a tangent, where the capture does not say it itself: what comes later and
  /// does not depend on one (a weight turned round) is there for the gradients.
  void findBackward() {
    std::vector<char> depends(m_graph.nodes.size(), 0);
    bool begun = false;
    for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
      const auto& node = m_graph.nodes[i];
      depends[i] = node.backward || (node.kind == NodeKind::Input && node.name.starts_with("tangents_"));
      for (const int input : node.inputs) depends[i] |= depends[std::size_t(input)];
      if (isInput(node) || node.kind == NodeKind::Output) continue;
      begun |= depends[i] != 0;
      m_backward[i] = begun;
    }
  }

  void set(int i, const std::string& found) {
    path(i) = found;
    m_known[std::size_t(i)] = 1;
  }

  void anchor() {
    for (const auto* calls : {&m_calls, &m_later})
      for (const int i : *calls) {
        if (!node(i).modulePath.empty()) set(i, node(i).modulePath);
        if (calls == &m_later) continue;
        for (const int input : node(i).inputs)
          if (!known(i) && isInput(node(input)))
            if (const auto owner = ownerFor(i, node(input)); !owner.empty()) set(i, owner);
      }
  }

  static std::string ownerOf(const NodeDoc& input) {
    auto owner = input.modulePath.empty() ? moduleByName(input) : input.modulePath;
    while (owner.ends_with('.')) owner.pop_back();
    return owner;
  }

  /// Two modules may share a weight (a word embedding and the head): the second is called what its source line says.
  std::string ownerFor(int call, const NodeDoc& weight) const {
    const auto owner = ownerOf(weight);
    const auto elsewhere = [&](int user) {
      return user < call && !m_backward[std::size_t(user)] && !sameLine(user, call);
    };
    if (owner.empty() || std::ranges::none_of(weight.users, elsewhere)) return owner;
    const auto named = calledModule(node(call).stackTrace);
    return named.empty() ? owner : named;
  }

  bool sameLine(int a, int b) const { return sameFile(a, b) && node(a).line == node(b).line; }
  bool sameFile(int a, int b) const { return m_lines && node(a).line > 0 && node(a).file == node(b).file; }

  /// The lines just above one that uses a parameter are the same function; so is the line itself.
  void fillAlongLines() {
    constexpr int nearby = 12;
    for (std::size_t k = m_calls.size(); k-- > 1;) {
      const int here = m_calls[k], above = m_calls[k - 1];
      const int step = node(here).line - node(above).line;
      if (known(here) && !known(above) && sameFile(here, above) && step >= 0 && step <= nearby) set(above, path(here));
    }
    for (std::size_t k = 1; k < m_calls.size(); ++k) {
      const int here = m_calls[k], above = m_calls[k - 1];
      if (known(above) && !known(here) && sameFile(here, above) && node(here).line == node(above).line)
        set(here, path(above));
    }
  }

  void fillBetween() {
    std::size_t last = 0;
    bool some = false;
    for (std::size_t k = 0; k < m_calls.size(); ++k) {
      if (!known(m_calls[k])) continue;
      if (some && k > last + 1) {
        const auto common = between(path(m_calls[last]), path(m_calls[k]));
        for (std::size_t j = last + 1; j < k; ++j) path(m_calls[j]) = common;
      }
      last = k;
      some = true;
    }
  }

  /// Behind the last known call: lines that other blocks of the same list ran end its block as well.
  void fillEnd() {
    std::size_t last = m_calls.size();
    while (last > 0 && !known(m_calls[last - 1])) --last;
    if (last == 0 || last == m_calls.size()) return;
    const auto block = between(path(m_calls[last - 1]), "");
    std::set<std::pair<std::string_view, int>> lines;
    for (std::size_t k = 0; k < last; ++k)
      if (listOf(path(m_calls[k])) == listOf(block)) lines.emplace(node(m_calls[k]).file, node(m_calls[k]).line);
    for (; last < m_calls.size() && !block.empty(); ++last) {
      const auto& call = node(m_calls[last]);
      if (call.line == 0 || !lines.contains({call.file, call.line})) return;
      path(m_calls[last]) = block;
    }
  }

  /// A gradient belongs to the forward call that it meets on its way back: one whose value or parameter it uses, and
  /// between two of these, the one on its source line that lies between them.
  void followForward() {
    for (const int i : m_calls)
      if (m_lines && node(i).line > 0) m_byLine[{node(i).file, node(i).line}].push_back(i);
    std::vector<int> met(m_later.size());
    for (std::size_t k = 0; k < m_later.size(); ++k) met[k] = metBy(m_later[k]);
    std::vector<int> next(m_later.size() + 1, 0);
    for (std::size_t k = m_later.size(); k-- > 0;) next[k] = met[k] >= 0 ? met[k] : next[k + 1];
    int at = m_calls.empty() ? -1 : m_calls.back();
    for (std::size_t k = 0; k < m_later.size(); ++k) {
      const int forward = met[k] >= 0 ? met[k] : onLine(m_later[k], next[k], at);
      if (met[k] >= 0) at = met[k];
      if (!known(m_later[k]) && (forward >= 0 || at >= 0)) path(m_later[k]) = path(forward >= 0 ? forward : at);
    }
  }

  bool isForward(int i) const { return !m_backward[std::size_t(i)] && !isInput(node(i)); }

  int metBy(int i) const {
    if (const int named = m_graph.find(node(i).forwardNode); named >= 0) return named;
    for (const int input : node(i).inputs)
      if (isForward(input) && sameFile(i, input) && node(i).line == node(input).line) return input;
    for (const int input : node(i).inputs) {
      if (!isInput(node(input)) || ownerOf(node(input)).empty()) continue;
      for (const int user : node(input).users)
        if (isForward(user)) return user;
    }
    return -1;
  }

  /// The forward call on the line of `i` that lies between `low` and `high`, or nearest to them.
  int onLine(int i, int low, int high) const {
    const auto found = m_byLine.find({node(i).file, node(i).line});
    if (found == m_byLine.end()) return -1;
    if (low > high) std::swap(low, high);
    const auto& calls = found->second;
    const auto above = std::ranges::upper_bound(calls, high);
    const int before = above == calls.begin() ? -1 : *std::prev(above);
    const int after = above == calls.end() ? -1 : *above;
    if (before < 0 || after < 0) return std::max(before, after);
    return before >= low || low - before <= after - high ? before : after;
  }

  void nameRegions() {
    if (m_calls.empty() || m_later.empty()) return;
    for (const auto* calls : {&m_calls, &m_later})
      for (const int i : *calls)
        path(i) = (calls == &m_calls ? "forward" : "backward") + (path(i).empty() ? "" : "." + path(i));
  }

  const GraphDoc& m_graph;
  bool m_lines = linesRepeat(m_graph);
  std::vector<std::string> m_paths;
  std::vector<char> m_backward, m_known;
  std::map<std::pair<std::string_view, int>, std::vector<int>> m_byLine;  ///< forward calls
  std::vector<int> m_calls, m_later;                                      ///< calls that compute values, and gradients
};

}  // namespace

std::vector<std::string> inferModules(const workbench::GraphDoc& graph) { return Inference(graph).run(); }

std::vector<std::string> inRegions(const workbench::GraphDoc& graph, std::vector<std::string> labels) {
  return Inference(graph).label(std::move(labels));
}

}  // namespace kerf::ui::inline layout
