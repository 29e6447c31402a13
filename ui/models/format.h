// How numbers are written in tables: short, aligned, the same everywhere.
#pragma once

#include <QString>

namespace kerf::ui::inline models {

QString formatMilliseconds(double milliseconds);  ///< "0.42 ms", "1.25 s"
/// "7.2 µs", "1.25 ms": estimates in microseconds.
QString formatMicroseconds(double microseconds);
QString formatSeconds(double seconds);              ///< "0.8 s", "2 min 5 s"
QString formatError(double value);                  ///< "0", "1.2e-05", "inf"
QString formatRatio(double value);                  ///< "0.003", "12.4", "1.2e+06"
QString formatBytes(qint64 bytes);                  ///< "512 B", "3.2 KiB"
QString formatCount(qint64 count);                  ///< "12,345"
QString plural(qint64 count, const QString& noun);  ///< "1 node", "3 nodes"
QString nameWithFolder(const QString& path);        ///< "mlp8/repro.py" of a full path
/// What a capture is called: "gpt2" of ".../gpt2/trace/dedicated_log_torch_trace_x.log", for such names say nothing; else
/// the file's name.
QString captureTitle(const QString& path);

}  // namespace kerf::ui::inline models
