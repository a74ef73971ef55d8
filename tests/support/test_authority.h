/// Certificates of an authority that a test makes up, and TLS on the server's side of a socket.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace layard::testing {

struct Freed {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

struct Identity {
  std::unique_ptr<EVP_PKEY, Freed> key;
  std::unique_ptr<X509, Freed> certificate;

  void write_certificate(const std::string& file) const {
    std::FILE* const out = std::fopen(file.c_str(), "w");
    if (out == nullptr || PEM_write_X509(out, certificate.get()) != 1 || std::fclose(out) != 0) {
      throw std::runtime_error("cannot write " + file);
    }
  }
};

struct IdentityOptions {
  std::string common_name = "authority";
  std::string names;  // as `DNS:localhost,IP:127.0.0.1`; none: an authority
  long begins_in_s = -3600;
  long ends_in_s = 3600;
};

/// Signed by `issuer`, or by itself.
inline Identity make_identity(const IdentityOptions& options, const Identity* issuer = nullptr) {
  static long serial = 1;
  Identity made;
  made.key.reset(EVP_EC_gen("P-256"));
  made.certificate.reset(X509_new());
  X509* const certificate = made.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), options.begins_in_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate), options.ends_in_s);
  X509_set_pubkey(certificate, made.key.get());
  X509_NAME* const subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(options.common_name.c_str()),
                             -1, -1, 0);
  const Identity& by = issuer == nullptr ? made : *issuer;
  X509_set_issuer_name(certificate, X509_get_subject_name(by.certificate.get()));
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, by.certificate.get(), certificate, nullptr, nullptr, 0);
  const auto add = [&](int kind, const char* value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
    if (extension == nullptr) throw std::runtime_error("no such extension");
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  };
  if (options.names.empty()) {
    add(NID_basic_constraints, "critical,CA:TRUE");
    add(NID_key_usage, "critical,keyCertSign");
  } else {
    add(NID_subject_alt_name, options.names.c_str());
  }
  if (X509_sign(certificate, by.key.get(), EVP_sha256()) == 0) throw std::runtime_error("sign");
  return made;
}

/// The server's side of TLS on a connected socket.
class TlsServerSide {
 public:
  TlsServerSide(int socket, const Identity& identity, int version_max = TLS1_3_VERSION)
      : context_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_.get(), version_max);
    SSL_CTX_use_certificate(context_.get(), identity.certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), identity.key.get());
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), socket);
    agreed_ = SSL_accept(ssl_.get()) == 1;
  }

  bool agreed() const { return agreed_; }
  /// The host name that the client asked for, or nothing.
  std::string server_name() const {
    const char* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
  }
  /// Until the empty line; empty when the client left.
  std::string receive_head() {
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n")) {
      if (SSL_read(ssl_.get(), &byte, 1) != 1) return {};
      head += byte;
    }
    return head;
  }
  void send(std::string_view bytes) {
    SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  /// The alert that says that nothing more comes.
  void say_end() { SSL_shutdown(ssl_.get()); }

 private:
  std::unique_ptr<SSL_CTX, Freed> context_;
  std::unique_ptr<SSL, Freed> ssl_;
  bool agreed_ = false;
};

}  // namespace layard::testing
