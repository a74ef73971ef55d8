/// Reads HTTP/1.1 replies piece by piece: with a length, or in chunks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace layard::bench {

/// One reply after another on a connection. What is not HTTP ends the program.
class ResponseReader {
 public:
  /// Takes received bytes and appends what they hold of the body to `body`. Returns how many of
  /// them belong to this reply: fewer than all only where it ended.
  std::size_t take(std::string_view bytes, std::string& body);
  bool has_head() const { return has_head_; }
  /// Whether the reply is whole.
  bool done() const { return state_ == State::kDone; }
  int status() const { return status_; }
  /// A field of the head by its name in lower case; empty when absent. Valid until reset().
  std::string_view field(std::string_view name) const;
  /// Makes it ready for the next reply.
  void reset();

 private:
  enum class State { kHead, kBody, kChunkSize, kChunk, kChunkEnd, kTrailer, kDone };

  std::size_t take_head(std::string_view bytes);
  std::size_t take_line(std::string_view bytes);
  std::size_t take_body(std::string_view bytes, std::string& body);
  void finish_line();

  State state_ = State::kHead;
  bool has_head_ = false;
  int status_ = 0;
  std::size_t left_ = 0;  // of the body or the chunk
  std::string head_;      // names in lower case
  std::string line_;
};

}  // namespace layard::bench
