/// Makes compressed bodies for tests.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace layard::testing {

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// One frame with its content's size in the header.
inline std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const auto bytes = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  if (ZSTD_isError(bytes) != 0U) throw std::runtime_error(ZSTD_getErrorName(bytes));
  out.resize(bytes);
  return out;
}

/// One frame that asks for a window of 2^window_log bytes and does not say its content's size.
inline std::string zstd_with_window(std::string_view text, int window_log) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string out(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  ZSTD_inBuffer input{text.data(), text.size(), 0};
  // Two steps, so that the size is not known when the header is written.
  ZSTD_compressStream2(context, &output, &input, ZSTD_e_flush);
  const auto left = ZSTD_compressStream2(context, &output, &input, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  if (left != 0) throw std::runtime_error("ZSTD_compressStream2");
  out.resize(output.pos);
  return out;
}

}  // namespace layard::testing
