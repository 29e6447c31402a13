#include "app/cli/pareto_plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace kerf::cli {

namespace {

using workbench::PartitionDoc;

constexpr double width = 720, plotHeight = 200, left = 90, right = 20, top = 50, gap = 50, bottom = 50;
constexpr double height = top + 2 * plotHeight + gap + bottom;
constexpr int ticks = 4;

struct Series {
  const char* title;
  const char* unit;
  const char* colour;
  double (*value)(const PartitionDoc&);
};
constexpr Series series[] = {
    {"saved for the backward part", "B", "#1f77b4", [](const PartitionDoc& point) { return double(point.savedBytes); }},
    {"computed again", "flop", "#d62728", [](const PartitionDoc& point) { return point.recomputedFlops; }},
};

double xOf(double budget) { return left + budget * (width - left - right); }

/// The least of 1, 2 or 5 times a power of ten that `ticks` steps of reach `largest`.
double stepFor(double largest) {
  if (!(largest > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(largest / ticks)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power * ticks >= largest) return factor * power;
  return 10 * power;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&' || c == '<' || c == '>' || c == '"')
      result += fmt::format("&#{};", int(c));
    else
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result;
}

std::string textAt(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

std::string lineBetween(double x1, double y1, double x2, double y2) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, y1, x2,
                     y2);
}

/// One plot whose upper edge is at `above`. The choice for a budget holds until the next one, hence steps.
std::string plotOf(const Series& series, const std::vector<PartitionDoc>& points, double above) {
  double largest = 0;
  for (const PartitionDoc& point : points) largest = std::max(largest, series.value(point));
  const double step = stepFor(largest), below = above + plotHeight;
  const auto yOf = [&](double value) { return below - value / (step * ticks) * plotHeight; };
  std::string svg = textAt(left, above - 10, "start", series.title);
  for (int tick = 0; tick <= ticks; ++tick) {
    const double y = yOf(step * tick);
    svg += lineBetween(left, y, width - right, y);
    svg += textAt(left - 8, y + 4, "end", shortNumber(step * tick, series.unit));
  }
  std::string path;
  for (const PartitionDoc& point : points) {
    const double x = xOf(point.budget), y = yOf(series.value(point));
    path += path.empty() ? fmt::format("M{:.1f},{:.1f}", x, y) : fmt::format(" H{:.1f} V{:.1f}", x, y);
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"><title>{}</title></circle>\n", x, y,
                       series.colour, fmt::format("{:g}: {:.15g} {}", point.budget, series.value(point), series.unit));
  }
  return svg + fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\"/>\n", path, series.colour);
}

}  // namespace

std::string shortNumber(double number, const std::string& unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; std::abs(number) >= 999.5 && prefix + 1 < std::size(prefixes); ++prefix) number /= 1000;
  const std::string suffix = prefixes[prefix] + unit;
  return fmt::format("{:.3g}{}{}", number, suffix.empty() ? "" : " ", suffix);
}

std::string paretoPlot(const std::vector<PartitionDoc>& points, const std::string& title) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  svg += textAt(width / 2, 20, "middle", title);
  double above = top;
  for (const Series& one : series) {
    svg += plotOf(one, points, above);
    above += plotHeight + gap;
  }
  for (int tick = 0; tick <= 10; tick += 2)
    svg += textAt(xOf(tick / 10.0), height - bottom + 20, "middle", fmt::format("{:g}", tick / 10.0));
  svg += textAt(xOf(0.5), height - 10, "middle", "memory budget");
  return svg + "</svg>\n";
}

}  // namespace kerf::cli
