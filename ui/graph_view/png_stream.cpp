#include "ui/graph_view/png_stream.h"

#include <QtEndian>

#include <zlib.h>

namespace kerf::ui::inline graph_view {
namespace {

constexpr int chunkBytes = 1 << 18;
constexpr double dotsPerMetre = 96 / 0.0254;

QByteArray bigEndian(quint32 value) {
  QByteArray bytes(4, '\0');
  qToBigEndian(value, bytes.data());
  return bytes;
}

}  // namespace

struct PngStream::Deflater {
  z_stream stream = {};
  QByteArray out = QByteArray(chunkBytes, '\0');
  QByteArray row;

  Deflater() {
    deflateInit(&stream, Z_DEFAULT_COMPRESSION);
    clear();
  }
  ~Deflater() { deflateEnd(&stream); }
  void clear() {
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = uInt(out.size());
  }
};

PngStream::PngStream(QIODevice& device, const QSize& size, double scale)
    : m_device(device), m_size(size), m_deflater(std::make_unique<Deflater>()) {
  constexpr char rgb8[] = {8, 2, 0, 0, 0};  // bits, colour type, and the usual for the rest
  const auto dots = bigEndian(quint32(dotsPerMetre * scale));
  m_good = device.write("\x89PNG\r\n\x1a\n", 8) == 8;
  writeChunk("IHDR", bigEndian(quint32(size.width())) + bigEndian(quint32(size.height())) + QByteArray(rgb8, 5));
  writeChunk("pHYs", dots + dots + QByteArray(1, '\1'));
}

PngStream::~PngStream() = default;

bool PngStream::writeChunk(const char* type, const QByteArray& body) {
  const auto checked = QByteArray(type, 4) + body;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.constData()), uInt(checked.size()));
  const auto bytes = bigEndian(quint32(body.size())) + checked + bigEndian(quint32(sum));
  m_good = m_good && m_device.write(bytes) == bytes.size();
  return m_good;
}

/// Feeds what the deflater was given; every full buffer is a chunk of its own.
bool PngStream::drain(bool last) {
  auto& stream = m_deflater->stream;
  for (;;) {
    const int state = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    const bool full = stream.avail_out == 0, ended = state == Z_STREAM_END;
    if (full || ended) {
      if (!writeChunk("IDAT", m_deflater->out.left(chunkBytes - int(stream.avail_out)))) return false;
      m_deflater->clear();
    }
    if (ended || (!last && stream.avail_in == 0 && !full)) return true;
    if (state != Z_OK && state != Z_BUF_ERROR) return m_good = false;
  }
}

bool PngStream::add(const QImage& rows) {
  const auto image = rows.convertToFormat(QImage::Format_RGB888);
  auto& row = m_deflater->row;
  for (int y = 0; y < image.height() && m_good; ++y) {
    row = QByteArray(1, '\0') + QByteArray(reinterpret_cast<const char*>(image.constScanLine(y)), 3 * m_size.width());
    m_deflater->stream.next_in = reinterpret_cast<Bytef*>(row.data());
    m_deflater->stream.avail_in = uInt(row.size());
    drain(false);
  }
  return m_good;
}

bool PngStream::finish() {
  m_deflater->stream.avail_in = 0;
  return drain(true) && writeChunk("IEND", {});
}

}  // namespace kerf::ui::inline graph_view
