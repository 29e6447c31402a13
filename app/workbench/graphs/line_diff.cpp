#include "app/workbench/graphs/module_comparison.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include <fmt/format.h>

namespace kerf::workbench {

namespace {

using Lines = std::vector<std::string_view>;

Lines splitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

struct Edit {
  char mark;
  std::string_view line;
  std::size_t before, after;
};

/// Myers' greedy shortest edit script over [lines of a] and [lines of b]. `limit` edits at most; then everything
/// between counts as replaced, so that two unrelated texts cost no more than memory for limit² numbers.
class ShortestEdit {
 public:
  ShortestEdit(const Lines& a, const Lines& b) : m_a(a), m_b(b) {}

  /// Pairs (x, y) of the path from the end to the start; empty if more than `limit` edits are needed.
  std::vector<std::pair<std::int64_t, std::int64_t>> path() {
    const auto n = std::int64_t(m_a.size()), m = std::int64_t(m_b.size());
    for (std::int64_t d = 0; d <= std::min(n + m, limit); ++d) {
      m_trace.push_back(m_furthest);
      for (std::int64_t k = -d; k <= d; k += 2) {
        if (advance(d, k) >= n && m_furthest[k] - k >= m) return backtrack(d);
      }
    }
    return {};
  }

 private:
  static constexpr std::int64_t limit = 1000;
  using Frontier = std::map<std::int64_t, std::int64_t>;

  bool down(Frontier& furthest, std::int64_t d, std::int64_t k) {
    return k == -d || (k != d && furthest[k - 1] < furthest[k + 1]);
  }
  std::int64_t advance(std::int64_t d, std::int64_t k) {
    std::int64_t x = down(m_furthest, d, k) ? m_furthest[k + 1] : m_furthest[k - 1] + 1;
    while (x < std::int64_t(m_a.size()) && x - k < std::int64_t(m_b.size()) && m_a[x] == m_b[x - k]) ++x;
    return m_furthest[k] = x;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> backtrack(std::int64_t d) {
    std::int64_t x = std::int64_t(m_a.size()), y = std::int64_t(m_b.size());
    std::vector<std::pair<std::int64_t, std::int64_t>> path{{x, y}};
    for (; d >= 0; --d) {
      auto& furthest = m_trace[std::size_t(d)];
      const std::int64_t k = x - y;
      const std::int64_t previous = down(furthest, d, k) ? k + 1 : k - 1;
      const std::int64_t px = d == 0 ? 0 : furthest[previous], py = d == 0 ? 0 : px - previous;
      while (x > px && y > py) path.emplace_back(--x, --y);
      if (d > 0) path.emplace_back(x = px, y = py);
    }
    return path;
  }

  const Lines& m_a;
  const Lines& m_b;
  Frontier m_furthest{{1, 0}};
  std::vector<Frontier> m_trace;
};

std::vector<Edit> edits(const Lines& a, const Lines& b) {
  auto path = ShortestEdit(a, b).path();
  std::vector<Edit> out;
  if (path.empty()) {
    for (std::size_t i = 0; i < a.size(); ++i) out.push_back({'-', a[i], i, 0});
    for (std::size_t i = 0; i < b.size(); ++i) out.push_back({'+', b[i], a.size(), i});
    return out;
  }
  std::ranges::reverse(path);
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const auto [x, y] = path[i];
    const auto [nx, ny] = path[i + 1];
    const auto ux = std::size_t(x), uy = std::size_t(y);
    if (nx > x && ny > y)
      out.push_back({' ', a[ux], ux, uy});
    else if (nx > x)
      out.push_back({'-', a[ux], ux, uy});
    else if (ny > y)
      out.push_back({'+', b[uy], ux, uy});
  }
  return out;
}

constexpr std::size_t context = 3;

/// Text of edits [first, last) as one hunk.
std::string hunk(const std::vector<Edit>& all, std::size_t first, std::size_t last) {
  const auto count = [&](char skip) {
    return std::count_if(all.begin() + std::int64_t(first), all.begin() + std::int64_t(last),
                         [skip](const Edit& edit) { return edit.mark != skip; });
  };
  std::string out =
      fmt::format("@@ -{},{} +{},{} @@\n", all[first].before + 1, count('+'), all[first].after + 1, count('-'));
  for (std::size_t i = first; i < last; ++i) out += fmt::format("{}{}\n", all[i].mark, all[i].line);
  return out;
}

}  // namespace

std::string lineDiff(std::string_view before, std::string_view after) {
  if (before == after) return {};
  const auto all = edits(splitLines(before), splitLines(after));
  std::string out;
  for (std::size_t i = 0; i < all.size();) {
    if (all[i].mark == ' ') {
      ++i;
      continue;
    }
    const std::size_t first = i > context ? i - context : 0;
    std::size_t last = i, quiet = 0;
    for (; last < all.size() && quiet <= 2 * context; ++last) quiet = all[last].mark == ' ' ? quiet + 1 : 0;
    last -= quiet > context ? quiet - context : 0;
    out += hunk(all, first, last);
    i = last;
  }
  return out;
}

}  // namespace kerf::workbench
