#include "ui/models/format.h"

#include <cmath>

#include <QLocale>
#include <QRegularExpression>
#include <QStringList>

namespace kerf::ui::inline models {

QString formatMilliseconds(double milliseconds) {
  if (milliseconds < 0) return QStringLiteral("–");
  if (milliseconds >= 1000) return QString::number(milliseconds / 1000, 'f', 2) + " s";
  return QString::number(milliseconds, 'f', milliseconds < 10 ? 2 : 1) + " ms";
}

QString formatMicroseconds(double microseconds) {
  if (microseconds >= 1000) return formatMilliseconds(microseconds / 1000);
  return QString::number(microseconds, 'f', 1) + QString::fromUtf8(" µs");
}

QString formatSeconds(double seconds) {
  if (seconds < 60) return QString::number(seconds, 'f', seconds < 10 ? 1 : 0) + " s";
  const int whole = int(std::lround(seconds));
  return QString("%1 min %2 s").arg(whole / 60).arg(whole % 60);
}

QString formatError(double value) {
  if (std::isnan(value)) return QStringLiteral("–");
  if (std::isinf(value)) return QStringLiteral("inf");
  return value == 0 ? QStringLiteral("0") : QString::number(value, 'e', 2);
}

QString formatRatio(double value) {
  if (std::isnan(value)) return QStringLiteral("–");
  if (std::isinf(value)) return QStringLiteral("inf");
  if (value != 0 && (value >= 1e5 || value < 1e-3)) return QString::number(value, 'e', 1);
  return QString::number(value, 'f', value >= 100 ? 0 : value >= 1 ? 2 : 3);
}

QString formatBytes(qint64 bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return QString::number(value, 'f', unit == 0 ? 0 : 1) + " " + units[unit];
}

QString formatCount(qint64 count) { return QLocale(QLocale::English).toString(count); }

QString plural(qint64 count, const QString& noun) { return formatCount(count) + " " + noun + (count == 1 ? "" : "s"); }

QString captureTitle(const QString& path) {
  static const QRegularExpression usual(
      "^(dedicated_log_torch_trace_.*|torch_trace.*|trace|raw|minifier_launcher|repro|repro_\\d+|fx_graph_.*|output_"
      "code|"
      "graph|model|checkpoints?|minifier|torch_compile_debug|run_.*|torchinductor|aot|dynamo|inductor|aot_.*|tmp.*|"
      "logs?|rank_?\\d+|\\d+)$",
      QRegularExpression::CaseInsensitiveOption);
  const auto parts = path.split('/', Qt::SkipEmptyParts);
  for (qsizetype i = parts.size() - 1; i >= 0; --i) {
    const auto name = i == parts.size() - 1 ? parts[i].section('.', 0, 0) : parts[i];
    if (usual.match(name).hasMatch()) continue;
    return i == parts.size() - 1 ? parts[i] : name;
  }
  return nameWithFolder(path);
}

QString nameWithFolder(const QString& path) { return path.section('/', -2); }

}  // namespace kerf::ui::inline models
