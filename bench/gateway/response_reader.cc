#include "response_reader.h"

#include <algorithm>
#include <cstdlib>

#include "sockets.h"

namespace layard::bench {

std::size_t ResponseReader::take(std::string_view bytes, std::string& body) {
  std::size_t at = 0;
  while (at < bytes.size() && state_ != State::kDone) {
    const std::string_view rest = bytes.substr(at);
    if (state_ == State::kHead) {
      at += take_head(rest);
    } else if (state_ == State::kBody || state_ == State::kChunk) {
      at += take_body(rest, body);
    } else {
      at += take_line(rest);
    }
  }
  return at;
}

std::string_view ResponseReader::field(std::string_view name) const {
  const std::string wanted = "\n" + std::string(name) + ":";
  const std::size_t at = head_.find(wanted);
  if (at == std::string::npos) return {};
  std::string_view value = std::string_view(head_).substr(at + wanted.size());
  value = value.substr(0, value.find('\r'));
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

void ResponseReader::reset() { *this = ResponseReader(); }

std::size_t ResponseReader::take_head(std::string_view bytes) {
  const std::size_t before = head_.size();
  head_ += bytes;
  const std::size_t end = head_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  if (end == std::string::npos) {
    if (head_.size() > 65536) fail("a reply's head is longer than 64 KiB");
    return bytes.size();
  }
  head_.resize(end + 4);
  if (!head_.starts_with("HTTP/1.1 ")) fail("not an HTTP/1.1 reply: " + head_.substr(0, 80));
  status_ = std::atoi(head_.c_str() + 9);
  bool in_name = false;
  for (char& c : head_) {
    if (in_name && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '\n') in_name = true;
    if (c == ':') in_name = false;
  }
  has_head_ = true;
  if (field("transfer-encoding") == "chunked") {
    state_ = State::kChunkSize;
  } else if (const std::string_view length = field("content-length"); !length.empty()) {
    left_ = std::strtoul(std::string(length).c_str(), nullptr, 10);
    state_ = left_ == 0 ? State::kDone : State::kBody;
  } else {
    fail("a reply with neither a length nor chunks: " + head_);
  }
  return end + 4 - before;
}

std::size_t ResponseReader::take_line(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  line_ += bytes.substr(0, end);
  if (end == std::string_view::npos) return bytes.size();
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  finish_line();
  line_.clear();
  return end + 1;
}

void ResponseReader::finish_line() {
  if (state_ == State::kChunkEnd) {
    if (!line_.empty()) fail("a chunk is longer than it said");
    state_ = State::kChunkSize;
  } else if (state_ == State::kTrailer) {
    if (line_.empty()) state_ = State::kDone;
  } else {
    char* end = nullptr;
    left_ = std::strtoul(line_.c_str(), &end, 16);
    if (end == line_.c_str()) fail("'" + line_ + "' is no chunk size");
    state_ = left_ == 0 ? State::kTrailer : State::kChunk;
  }
}

std::size_t ResponseReader::take_body(std::string_view bytes, std::string& body) {
  const std::size_t count = std::min(left_, bytes.size());
  body += bytes.substr(0, count);
  left_ -= count;
  if (left_ == 0) state_ = state_ == State::kBody ? State::kDone : State::kChunkEnd;
  return count;
}

}  // namespace layard::bench
