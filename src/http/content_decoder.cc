#include "http/content_decoder.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace layard::http {
namespace {

constexpr std::size_t kPieceBytes = 32 * 1024;
constexpr int kZstdWindowLogMax = 23;  // 8 MiB

Refusal too_large(std::size_t out_bytes_max) {
  return {RefusalReason::kBodySize, "the body is over " + std::to_string(out_bytes_max) +
                                        " bytes after decompression; send less"};
}

Refusal broken(std::string_view what) {
  return {RefusalReason::kCompressedBody, std::string(what)};
}

// Appends what was decoded; false when it does not fit.
bool append(std::string& out, const char* piece, std::size_t bytes, std::size_t out_bytes_max) {
  if (bytes > out_bytes_max - std::min(out.size(), out_bytes_max)) return false;
  out.append(piece, bytes);
  return true;
}

class IdentityDecoder final : public ContentDecoder {
 public:
  explicit IdentityDecoder(std::size_t out_bytes_max) : out_bytes_max_(out_bytes_max) {}

  std::optional<Refusal> write(std::string_view in, std::string& out) override {
    if (append(out, in.data(), in.size(), out_bytes_max_)) return std::nullopt;
    return Refusal{RefusalReason::kBodySize,
                   "the body is over " + std::to_string(out_bytes_max_) + " bytes; send less"};
  }
  std::optional<Refusal> finish() override { return std::nullopt; }
  std::size_t memory_bytes() const override { return 0; }

 private:
  std::size_t out_bytes_max_;
};

class GzipDecoder final : public ContentDecoder {
 public:
  explicit GzipDecoder(std::size_t out_bytes_max) : out_bytes_max_(out_bytes_max) {
    constexpr int kGzipOnly = 16;
    usable_ = inflateInit2(&stream_, 15 + kGzipOnly) == Z_OK;
  }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;
  ~GzipDecoder() override {
    if (usable_) inflateEnd(&stream_);
  }

  std::optional<Refusal> write(std::string_view in, std::string& out) override {
    if (!usable_) return broken("there is no memory to decompress the body");
    // zlib's interface predates const; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    std::array<char, kPieceBytes> piece;
    bool piece_full = false;
    while (stream_.avail_in > 0 || piece_full) {
      if (ended_) {  // another member follows: the output is theirs one after the other
        if (inflateReset(&stream_) != Z_OK) return broken("the gzip body cannot be decompressed");
        ended_ = false;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = static_cast<uInt>(piece.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return broken("the body is not the gzip data that Content-Encoding says it is");
      }
      begun_ = true;
      ended_ = code == Z_STREAM_END;
      const std::size_t got = piece.size() - stream_.avail_out;
      if (!append(out, piece.data(), got, out_bytes_max_)) return too_large(out_bytes_max_);
      piece_full = !ended_ && stream_.avail_out == 0;
    }
    return std::nullopt;
  }

  std::optional<Refusal> finish() override {
    if (!begun_ || ended_) return std::nullopt;
    return broken("the gzip body is cut off");
  }

  std::size_t memory_bytes() const override { return 48 * 1024; }

 private:
  z_stream stream_{};
  std::size_t out_bytes_max_;
  bool usable_ = false;
  bool begun_ = false;
  bool ended_ = false;
};

struct ZstdDelete {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdDecoder final : public ContentDecoder {
 public:
  explicit ZstdDecoder(std::size_t out_bytes_max)
      : context_(ZSTD_createDCtx()), out_bytes_max_(out_bytes_max) {
    if (context_ != nullptr && ZSTD_isError(ZSTD_DCtx_setParameter(
                                   context_.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax)) != 0U) {
      context_.reset();
    }
  }

  std::optional<Refusal> write(std::string_view in, std::string& out) override {
    if (context_ == nullptr) return broken("there is no memory to decompress the body");
    while (!in.empty()) {
      if (magic_bytes_ < magic_.size()) {
        const auto piece = in.substr(0, magic_.size() - magic_bytes_);
        std::ranges::copy(piece, magic_.begin() + static_cast<std::ptrdiff_t>(magic_bytes_));
        magic_bytes_ += piece.size();
        in.remove_prefix(piece.size());
        if (magic_bytes_ < magic_.size()) break;
        if (!is_known_magic()) return broken("the body holds something that is no zstd frame");
        std::string_view magic(magic_.data(), magic_.size());
        if (auto bad = decode(magic, out)) return bad;
      } else if (auto bad = decode(in, out)) {
        return bad;
      }
    }
    return std::nullopt;
  }

  std::optional<Refusal> finish() override {
    if (magic_bytes_ == 0) return std::nullopt;  // between two frames
    return broken("the zstd body is cut off");
  }

  std::size_t memory_bytes() const override {
    return context_ == nullptr ? 0 : ZSTD_sizeof_DCtx(context_.get());
  }

 private:
  // The library also reads formats from before zstd was one; nobody means to send those, and their
  // readers are old code.
  bool is_known_magic() const {
    std::uint32_t magic = 0;
    for (std::size_t i = magic_.size(); i-- > 0;) {
      magic = magic << 8U | static_cast<unsigned char>(magic_[i]);
    }
    return magic == ZSTD_MAGICNUMBER ||
           (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
  }

  // Takes bytes off `in`: all, or up to the end of the frame.
  std::optional<Refusal> decode(std::string_view& in, std::string& out) {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    std::array<char, kPieceBytes> piece;
    bool more = true;
    while (more) {
      ZSTD_outBuffer output{piece.data(), piece.size(), 0};
      const std::size_t left = ZSTD_decompressStream(context_.get(), &output, &input);
      if (ZSTD_isError(left) != 0U) {
        return broken("the body is not zstd data that fits a window of 8 MiB");
      }
      if (!append(out, piece.data(), output.pos, out_bytes_max_)) return too_large(out_bytes_max_);
      if (left == 0) magic_bytes_ = 0;
      more = left != 0 && (input.pos < input.size || output.pos == output.size);
    }
    in.remove_prefix(input.pos);
    return std::nullopt;
  }

  std::unique_ptr<ZSTD_DCtx, ZstdDelete> context_;
  std::size_t out_bytes_max_;
  std::array<char, 4> magic_{};  // the beginning of the current frame
  std::size_t magic_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ContentDecoder> ContentDecoder::create(ContentCoding coding,
                                                       std::size_t out_bytes_max) {
  switch (coding) {
    case ContentCoding::kGzip:
      return std::make_unique<GzipDecoder>(out_bytes_max);
    case ContentCoding::kZstd:
      return std::make_unique<ZstdDecoder>(out_bytes_max);
    case ContentCoding::kIdentity:
      break;
  }
  return std::make_unique<IdentityDecoder>(out_bytes_max);
}

}  // namespace layard::http
