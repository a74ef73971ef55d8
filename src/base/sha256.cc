#include "base/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/checks.h"
#include "base/mapped_file.h"

namespace layard::base {
namespace {

struct ContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, ContextDeleter>;

Context make_context() {
  Context context(EVP_MD_CTX_new());
  LAYARD_CHECK(context != nullptr);
  return context;
}

}  // namespace

struct Sha256::State {
  Context context = make_context();
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  LAYARD_CHECK(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  LAYARD_CHECK(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() const {
  // Finishing a copy keeps this one open for more.
  const Context copy = make_context();
  std::array<unsigned char, 32> digest{};
  LAYARD_CHECK(EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()) == 1);
  LAYARD_CHECK(EVP_DigestFinal_ex(copy.get(), digest.data(), nullptr) == 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

Result<std::string> sha256_file(const std::filesystem::path& path, const std::stop_token& stop) {
  LAYARD_ASSIGN(const ReadOnlyFile file, ReadOnlyFile::open(path));
  Sha256 hash;
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (std::uint64_t offset = 0; offset < file.size_bytes();) {
    if (stop.stop_requested()) {
      return Error{ErrorCode::kCancelled, "hashing '" + path.string() + "' was cancelled"};
    }
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file.size_bytes() - offset));
    LAYARD_TRY(file.read_at(offset, std::span(piece).first(count)));
    hash.update(std::span(piece).first(count));
    offset += count;
  }
  return hash.hex();
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace layard::base
