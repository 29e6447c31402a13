// PngStream: a PNG written band by band, so that a picture may be larger than memory.
#pragma once

#include <memory>

#include <QIODevice>
#include <QImage>
#include <QSize>

namespace kerf::ui::inline graph_view {

class PngStream {
 public:
  /// 8 bits of red, green and blue a pixel. `scale` is noted as the resolution: 96 dots an inch times that.
  PngStream(QIODevice& device, const QSize& size, double scale);
  ~PngStream();
  PngStream(const PngStream&) = delete;
  PngStream& operator=(const PngStream&) = delete;

  /// The next rows from the top, as wide as the picture. False when the device takes no more.
  bool add(const QImage& rows);
  /// To be called after the last row.
  bool finish();

 private:
  struct Deflater;
  bool writeChunk(const char* type, const QByteArray& body);
  bool drain(bool last);

  QIODevice& m_device;
  QSize m_size;
  std::unique_ptr<Deflater> m_deflater;
  bool m_good = true;
};

}  // namespace kerf::ui::inline graph_view
