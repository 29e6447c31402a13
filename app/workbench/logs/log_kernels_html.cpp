// Provenance as HTML: each kernel with links to the lines of the post-grad graph, the pre-grad graph and the code.
#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/ranges.h>

#include "app/workbench/logs/log_html.h"

namespace kerf::workbench {

namespace {

constexpr std::size_t shownNodes = 40;
constexpr std::int64_t longestGraph = 16 << 20;

constexpr std::array<std::string_view, 3> postGrad{"inductor_post_grad_graph", "after_post_grad_graph",
                                                   "before_post_grad_graph"};
constexpr std::array<std::string_view, 3> preGrad{"before_pre_grad_graph", "inductor_pre_grad_graph",
                                                  "after_pre_grad_graph"};

/// Lines of the nodes in a printed graph: "  relu: "f32[2]" = …" and "  relu = …".
class GraphLines {
 public:
  GraphLines(const LogPages& pages, std::int64_t record) {
    if (record < 0) return;
    const auto text = pages.view().details.records[std::size_t(record)].text(longestGraph);
    if (!text) return;
    int number = 1;
    for (std::size_t at = 0; at < text->size(); ++number) {
      const std::size_t end = std::min(text->find('\n', at), text->size());
      const std::string_view line = std::string_view(*text).substr(at, end - at);
      const std::size_t first = line.find_first_not_of(' '), stop = line.find_first_of(":= ", first);
      if (first != std::string_view::npos && stop != std::string_view::npos &&
          line.find('=', stop) != std::string_view::npos)
        m_lines.try_emplace(std::string(line.substr(first, stop - first)), number);
      at = end + 1;
    }
    m_page = pages.recordPage(std::size_t(record));
  }

  std::string link(const std::string& node) const {
    const auto found = m_lines.find(node);
    if (m_page.empty() || found == m_lines.end()) return htmlText(node);
    return fmt::format("<a href=\"../{}#L{}\">{}</a>", m_page, found->second, htmlText(node));
  }
  std::string links(const std::vector<std::string>& nodes) const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(nodes.size(), shownNodes); ++i) texts.push_back(link(nodes[i]));
    if (nodes.size() > shownNodes) texts.push_back(fmt::format("{} more", nodes.size() - shownNodes));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

 private:
  std::string m_page;
  std::unordered_map<std::string, int> m_lines;
};

/// The last graph of these names; of post-grad graphs that of the direction.
std::int64_t graphNamed(const CompileStory& story, std::span<const std::string_view> names,
                        const std::string& direction) {
  for (const std::string_view name : names)
    for (auto code = story.codes.rbegin(); code != story.codes.rend(); ++code)
      if (code->name == name && (direction.empty() || code->direction == direction)) return std::int64_t(code->record);
  return -1;
}

std::string lineLinks(const std::string& page, const std::vector<int>& lines) {
  std::vector<std::string> texts;
  for (const int line : lines)
    texts.push_back(page.empty() ? std::to_string(line) : fmt::format("<a href=\"../{0}#L{1}\">{1}</a>", page, line));
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace

std::string kernelsHtml(const LogPages& pages, std::size_t compile) {
  constexpr std::size_t mostKernels = 2000;
  const CompileStory& story = pages.view().log.compiles[compile];
  if (story.kernels.empty()) return {};
  const GraphLines pre(pages, graphNamed(story, preGrad, ""));
  std::map<std::string, GraphLines> post;
  std::string out =
      "<div class=\"scroll\"><table><tr><th>Graph</th><th>Kernel</th><th>Source lines</th><th>Pre-grad nodes</th>"
      "<th>Post-grad nodes</th><th>Defined at</th><th>Called at</th></tr>\n";
  for (std::size_t i = 0; i < std::min(story.kernels.size(), mostKernels); ++i) {
    const KernelOrigin& kernel = story.kernels[i];
    auto graph = post.find(kernel.direction);
    if (graph == post.end())
      graph = post.emplace(kernel.direction, GraphLines(pages, graphNamed(story, postGrad, kernel.direction))).first;
    const std::string page = kernel.code >= 0 ? pages.recordPage(std::size_t(kernel.code)) : std::string();
    out += fmt::format(
        "<tr><td>{}</td><td class=\"code\">{}</td><td class=\"code\">{}</td><td class=\"code\">{}</td>"
        "<td class=\"code\">{}</td><td>{}</td><td>{}</td></tr>\n",
        htmlText(kernel.direction), htmlText(kernel.kernel), htmlText(fmt::format("{}", fmt::join(kernel.lines, "\n"))),
        pre.links(kernel.preGradNodes), graph->second.links(kernel.postGradNodes), lineLinks(page, kernel.definedAt),
        lineLinks(page, kernel.calledAt));
  }
  return out + "</table></div>\n";
}

}  // namespace kerf::workbench
