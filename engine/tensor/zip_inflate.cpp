#include "engine/tensor/zip_inflate.h"

#include <algorithm>
#include <limits>

#include <zlib.h>

namespace kerf::inline tensor {
namespace {

constexpr std::size_t firstPiece = 1 << 20;  // memory grows with what really comes out, not with what was promised

/// An inflate stream that ends itself.
struct Stream {
  Stream() { ready = ::inflateInit2(&zlib, -MAX_WBITS) == Z_OK; }
  ~Stream() {
    if (ready) ::inflateEnd(&zlib);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  z_stream zlib{};
  bool ready = false;
};

uInt clamped(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

}  // namespace

Result<std::string> inflateBytes(std::span<const std::byte> packed, std::size_t bytes) {
  Stream stream;
  if (!stream.ready) return fail(ErrorCode::Environment, "zlib cannot start");
  std::string out;
  std::size_t done = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    // One byte more than promised, so that a longer stream shows itself.
    if (done == out.size()) out.resize(std::min(bytes + 1, std::max(firstPiece, out.size() * 2)));
    stream.zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    stream.zlib.avail_in = clamped(packed.size());
    stream.zlib.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.zlib.avail_out = clamped(out.size() - done);
    const uInt in = stream.zlib.avail_in, room = stream.zlib.avail_out;
    state = ::inflate(&stream.zlib, Z_NO_FLUSH);
    packed = packed.subspan(in - stream.zlib.avail_in);
    done += room - stream.zlib.avail_out;
    if (done > bytes)
      return fail(ErrorCode::BadInput, "the packed data unpack to more than the {} bytes promised", bytes);
    if (state == Z_OK && in == stream.zlib.avail_in && room == stream.zlib.avail_out) break;
  }
  if (state != Z_STREAM_END || done != bytes)
    return fail(ErrorCode::BadInput, "the packed data are damaged: {} of {} bytes came out", done, bytes);
  out.resize(done);
  return out;
}

std::uint32_t zipCrc32(std::span<const std::byte> bytes, std::uint32_t seed) {
  return std::uint32_t(::crc32_z(seed, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace kerf::inline tensor
