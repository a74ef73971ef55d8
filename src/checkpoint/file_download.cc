#include "checkpoint/file_download.h"

#include <algorithm>
#include <charconv>

#include "base/mapped_file.h"
#include "checkpoint/hub_url.h"
#include "checkpoint/remote_json.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kEtagBytesMax = 1024;
constexpr std::int64_t kBackoffMsMax = 30'000;
constexpr std::int64_t kRetryAfterSMax = 60;
// However often a transfer breaks off and goes on, it ends.
constexpr int kTriesMax = 1000;

// `bytes 5-9/10`: first byte, and the whole size unless it is `*`.
struct ContentRange {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> total;
};

std::optional<ContentRange> parse_content_range(std::string_view text) {
  ContentRange range;
  if (!text.starts_with("bytes ")) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data() + 6, end, range.first);
  const std::size_t slash = text.find('/');
  if (first.ec != std::errc() || slash == std::string_view::npos) return std::nullopt;
  std::uint64_t total = 0;
  if (std::from_chars(text.data() + slash + 1, end, total).ec == std::errc()) range.total = total;
  return range;
}

// Only a strong validator promises equal bytes.
bool is_strong(std::string_view etag) {
  return etag.size() >= 2 && etag.size() <= kEtagBytesMax && etag.starts_with('"') &&
         etag.ends_with('"');
}

std::string flat(std::string path) {
  std::ranges::replace(path, '/', '-');
  return path;
}

}  // namespace

FileDownload::FileDownload(const ModelSpec& spec, const RemoteFile& file, const HubAccess& access,
                           const fs::path& blobs)
    : spec_(spec), file_(file), access_(access), blobs_(blobs) {
  const std::string name = "layard-" + spec.revision.substr(0, 12) + "-" + flat(file.path);
  incomplete_ = blobs / (name + ".incomplete");
  etag_path_ = blobs / (name + ".incomplete.etag");
}

Error FileDownload::wrong(ErrorCode code, const std::string& problem) {
  discard();
  return {code, "file '" + file_.path + "': " + problem + "; nothing of this file was kept"};
}

// Forgets what has arrived. Failing to remove it only costs disk: it is written over next time.
void FileDownload::discard() {
  writer_.reset();
  (void)access_.files->remove(etag_path_);
  (void)access_.files->remove(incomplete_);
}

Status FileDownload::start_over() {
  writer_.reset();
  // In this order: an .incomplete without its ETag is never continued.
  LAYARD_TRY(access_.files->remove(etag_path_));
  LAYARD_TRY(access_.files->remove(incomplete_));
  hash_ = base::Sha256();
  bytes_done_ = 0;
  etag_.clear();
  return {};
}

Result<std::uint64_t> FileDownload::bytes_kept() {
  LAYARD_ASSIGN(const auto info, access_.files->link_stat(incomplete_));
  const bool usable = info && info->kind == base::FileKind::kFile && info->size_bytes > 0 &&
                      info->size_bytes <= file_.bytes_max;
  if (!usable) return std::uint64_t{0};
  const auto etag = access_.files->read_text(etag_path_, kEtagBytesMax);
  if (!etag.ok() || !is_strong(*etag)) return std::uint64_t{0};
  etag_ = *etag;
  return info->size_bytes;
}

// Takes up what an earlier attempt left, or starts from nothing.
Status FileDownload::prepare() {
  LAYARD_ASSIGN(const std::uint64_t kept, bytes_kept());
  if (kept == 0) return start_over();
  if (kept == bytes_done_) return {};  // ours, hashed already
  hash_ = base::Sha256();
  LAYARD_ASSIGN(const base::ReadOnlyFile file, base::ReadOnlyFile::open(incomplete_));
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (std::uint64_t offset = 0; offset < kept;) {
    if (access_.stop.stop_requested()) {
      return Error{ErrorCode::kCancelled, "the download was cancelled"};
    }
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), kept - offset));
    LAYARD_TRY(file.read_at(offset, std::span(piece).first(count)));
    hash_.update(std::span(piece).first(count));
    offset += count;
  }
  bytes_done_ = kept;
  return {};
}

Status FileDownload::check_total(std::optional<std::uint64_t> total) {
  bytes_total_ = total ? total : file_.bytes;
  if (total && file_.bytes && *total != *file_.bytes) {
    return wrong(ErrorCode::kArtifactRevision, "the server offers " + std::to_string(*total) +
                                                   " bytes, the pinned file has " +
                                                   std::to_string(*file_.bytes));
  }
  if (total && *total > file_.bytes_max) {
    return wrong(ErrorCode::kArtifactIntegrity,
                 "the server offers " + std::to_string(*total) + " bytes, at most " +
                     std::to_string(file_.bytes_max) + " are allowed");
  }
  if (!bytes_total_) return {};
  const std::uint64_t missing = *bytes_total_ - std::min(*bytes_total_, bytes_done_);
  LAYARD_ASSIGN(const std::uint64_t free, access_.files->free_bytes(blobs_));
  const std::uint64_t needed = missing + access_.options.free_bytes_reserve;
  if (free < needed) {
    return Error{ErrorCode::kIo, "not enough room in '" + blobs_.string() +
                                     "': " + std::to_string(needed) + " bytes are needed, " +
                                     std::to_string(free) + " are free"};
  }
  return {};
}

Status FileDownload::remember_etag(const std::string& etag) {
  etag_ = is_strong(etag) ? etag : std::string();
  if (etag_.empty()) return access_.files->remove(etag_path_);
  return base::write_atomically(*access_.files, etag_path_, etag_);
}

// Checks that a 206 goes on exactly where we are, in the same file.
Status FileDownload::check_continuation(const HttpHead& head, std::optional<std::uint64_t>& total) {
  const auto range = parse_content_range(head.content_range);
  const bool same_file = head.etag.empty() || head.etag == etag_;
  if (bytes_done_ == 0 || !range || range->first != bytes_done_ || !same_file) {
    start_over_ = true;
    return Error{ErrorCode::kBackendUnavailable, "the server sent a part that was not asked for"};
  }
  total = range->total;
  return {};
}

Status FileDownload::on_head(const HttpHead& head) {
  if (!head.content_encoding.empty() && head.content_encoding != "identity") {
    return wrong(ErrorCode::kBackendUnavailable,
                 "'" + head.url + "' sent it encoded as " + head.content_encoding);
  }
  if (head.content_type.starts_with("text/html")) {
    return wrong(ErrorCode::kBackendUnavailable,
                 "'" + head.url + "' sent a web page instead (a sign-in page of the network?)");
  }
  if (head.status != 200 && head.status != 206) {
    return wrong(
        ErrorCode::kBackendUnavailable,
        "'" + head.url + "' answered " + std::to_string(head.status) + ", which is no file");
  }
  std::optional<std::uint64_t> total = head.content_length;
  if (head.status == 206) {
    LAYARD_TRY(check_continuation(head, total));
    LAYARD_TRY(check_total(total));
    LAYARD_ASSIGN(writer_, access_.files->open_append(incomplete_));
    return {};
  }
  // The whole file: also the answer to a request for the rest when the file has changed.
  LAYARD_TRY(start_over());
  LAYARD_TRY(check_total(total));
  LAYARD_ASSIGN(writer_, access_.files->create(incomplete_));
  return remember_etag(head.etag);
}

Status FileDownload::on_body(std::span<const std::byte> bytes) {
  if (bytes.size() > file_.bytes_max - std::min(file_.bytes_max, bytes_done_)) {
    return wrong(ErrorCode::kArtifactIntegrity,
                 "more than the " + std::to_string(file_.bytes_max) + " bytes allowed arrived");
  }
  LAYARD_TRY(writer_->write(bytes));
  hash_.update(bytes);
  bytes_done_ += bytes.size();
  report();
  return {};
}

void FileDownload::report() {
  if (!access_.progress) return;
  access_.progress({spec_.name, file_.path, bytes_done_, bytes_total_.value_or(0)});
}

Status FileDownload::close_writer() {
  if (writer_ == nullptr) return {};
  const Status status = writer_->close();
  writer_.reset();
  return status;
}

// One request. True: all there is has arrived. False: worth another try.
Result<bool> FileDownload::try_once() {
  LAYARD_TRY(prepare());
  if (is_complete()) return true;
  start_over_ = false;
  retry_after_ms_ = 0;
  const HttpRequest request{
      file_url(access_.options.endpoint, spec_.repo, spec_.revision, file_.path), bytes_done_,
      etag_};
  const HttpOutcome outcome = http_fetch(request, access_.options, *this, access_.stop);
  const Status closed = close_writer();
  if (!outcome.error) {
    LAYARD_TRY(closed);
    if (!file_.bytes || is_complete()) return true;
    last_problem_ = "'" + outcome.head.url + "' sent " + std::to_string(bytes_done_) + " of " +
                    std::to_string(*file_.bytes) + " bytes";
    return false;
  }
  if (start_over_ || (outcome.head.status == 416 && request.range_from > 0)) {
    LAYARD_TRY(start_over());
  } else if (!outcome.retryable) {
    return *outcome.error;
  }
  last_problem_ = outcome.error->message;
  retry_after_ms_ = std::min(outcome.head.retry_after_s.value_or(0), kRetryAfterSMax) * 1000;
  return false;
}

Result<std::string> FileDownload::run() {
  int fruitless = 0;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const std::uint64_t before = bytes_done_;
    LAYARD_ASSIGN(const bool complete, try_once());
    if (complete) return finish();
    fruitless = bytes_done_ > before ? 0 : fruitless + 1;
    if (fruitless >= access_.options.attempts_max) break;
    access_.log->write(base::LogLevel::kInfo,
                       "file '" + file_.path + "': " + last_problem_ + "; trying again");
    const std::int64_t backoff =
        std::min(kBackoffMsMax, access_.options.backoff_ms << std::clamp(fruitless - 1, 0, 10));
    if (!access_.clock->sleep_ms(std::max(backoff, retry_after_ms_), access_.stop)) {
      return Error{ErrorCode::kCancelled, "the download was cancelled"};
    }
  }
  return Error{ErrorCode::kBackendUnavailable,
               "file '" + file_.path + "': given up: " + last_problem_};
}

Status FileDownload::check_json() {
  LAYARD_ASSIGN(const std::string text, access_.files->read_text(incomplete_, file_.bytes_max));
  const Status checked = check_remote_json(file_.path, text, spec_.name);
  if (checked.ok()) return {};
  return wrong(ErrorCode::kArtifactIntegrity,
               "what arrived is not the JSON its name promises (" + checked.error().message + ")");
}

Result<std::string> FileDownload::finish() {
  const std::string sha256 = hash_.hex();
  if (!file_.sha256.empty() && sha256 != file_.sha256) {
    return wrong(ErrorCode::kArtifactRevision,
                 "SHA-256 is " + sha256 + ", the pin says " + file_.sha256);
  }
  if (file_.path.ends_with(".json")) LAYARD_TRY(check_json());
  LAYARD_ASSIGN(auto writer, access_.files->open_append(incomplete_));
  LAYARD_TRY(writer->sync());
  LAYARD_TRY(writer->close());
  LAYARD_TRY(access_.files->rename(incomplete_, blobs_ / sha256));
  LAYARD_TRY(access_.files->remove(etag_path_));
  return sha256;
}

}  // namespace layard::checkpoint
