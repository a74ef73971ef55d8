/// One file from the hub into the cache's blobs: resumed, bounded, hashed as it arrives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "checkpoint/http_fetch.h"
#include "checkpoint/hub.h"

namespace layard::checkpoint {

/// Keeps what has arrived in `<blobs>/layard-<revision>-<file>.incomplete`, with the server's ETag
/// beside it, and gives the file its final name, its hash, when all of it is there and right.
/// REQUIRES: the caller holds the revision's lock. Thread-safety: one caller.
class FileDownload final : private HttpReceiver {
 public:
  /// All arguments outlive the object.
  FileDownload(const ModelSpec& spec, const RemoteFile& file, const HubAccess& access,
               const std::filesystem::path& blobs);

  /// Returns the SHA-256 of the content, now at `<blobs>/<sha256>`.
  /// Errors: as download_checkpoint(). A wrong or oversized file leaves nothing behind.
  Result<std::string> run();

  /// Bytes of an earlier attempt that can be built upon. Errors: kIo.
  Result<std::uint64_t> bytes_kept();

  /// Forgets what an earlier attempt left.
  void discard();

 private:
  Status on_head(const HttpHead& head) override;
  Status on_body(std::span<const std::byte> bytes) override;

  Status prepare();
  Status start_over();
  Result<bool> try_once();
  Status check_total(std::optional<std::uint64_t> total);
  Status remember_etag(const std::string& etag);
  Status check_continuation(const HttpHead& head, std::optional<std::uint64_t>& total);
  Status close_writer();
  Status check_json();
  Result<std::string> finish();
  Error wrong(ErrorCode code, const std::string& problem);
  bool is_complete() const { return file_.bytes && bytes_done_ == *file_.bytes; }
  void report();

  const ModelSpec& spec_;
  const RemoteFile& file_;
  const HubAccess& access_;
  const std::filesystem::path& blobs_;
  std::filesystem::path incomplete_;
  std::filesystem::path etag_path_;

  std::unique_ptr<base::FileWriter> writer_;
  base::Sha256 hash_;
  std::string etag_;
  std::uint64_t bytes_done_ = 0;
  std::optional<std::uint64_t> bytes_total_;
  bool start_over_ = false;  // the server does not continue what we have
  std::int64_t retry_after_ms_ = 0;
  std::string last_problem_;
};

}  // namespace layard::checkpoint
