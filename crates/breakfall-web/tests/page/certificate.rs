//! A certificate for `localhost` that signs itself, made anew for each test.

use std::path::Path;

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let mut all = vec![tag];
    match u8::try_from(body.len()) {
        Ok(short @ 0..128) => all.push(short),
        Ok(length) => all.extend([0x81, length]),
        Err(_) => {
            let length = u16::try_from(body.len()).unwrap().to_be_bytes();
            all.extend([0x82, length[0], length[1]]);
        }
    }
    all.extend(body);
    all
}

const ECDSA_WITH_SHA256: &[u8] = &[0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const EC_PUBLIC_KEY: &[u8] = &[0x06, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const COMMON_NAME: &[u8] = &[0x06, 3, 0x55, 4, 3];
const OTHER_NAMES: &[u8] = &[0x06, 3, 0x55, 0x1d, 0x11];

/// Writes `cert.pem` and `key.pem`, and gives the certificate.
pub(crate) fn make(folder: &Path) -> Vec<u8> {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
    let pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &random).unwrap();
    let algorithm = der(0x30, &[ECDSA_WITH_SHA256]);
    let name = der(0x30, &[COMMON_NAME, &der(0x0c, &[b"localhost"])]);
    let name = der(0x30, &[&der(0x31, &[&name])]);
    let time = |time: &[u8]| der(0x17, &[time]);
    let valid = der(0x30, &[&time(b"200101000000Z"), &time(b"491231235959Z")]);
    let public = der(0x03, &[&[0], pair.public_key().as_ref()]);
    let public = der(0x30, &[&der(0x30, &[EC_PUBLIC_KEY, P256]), &public]);
    let names = der(0x30, &[&der(0x82, &[b"localhost"])]);
    let names = der(0x30, &[OTHER_NAMES, &der(0x04, &[&names])]);
    let extensions = der(0xa3, &[&der(0x30, &[&names])]);
    let version = der(0xa0, &[&[0x02, 1, 2]]);
    let told = der(
        0x30,
        &[&version, &[0x02, 1, 7], &algorithm, &name, &valid, &name, &public, &extensions],
    );
    let signature = pair.sign(&random, &told).unwrap();
    let signature = der(0x03, &[&[0], signature.as_ref()]);
    let certificate = der(0x30, &[&told, &algorithm, &signature]);
    write(&folder.join("cert.pem"), "CERTIFICATE", &certificate);
    write(&folder.join("key.pem"), concat!("PRIVATE", " KEY"), key.as_ref());
    certificate
}

fn write(path: &Path, name: &str, bytes: &[u8]) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let three = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let all = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for at in 0..4 {
            let letter = LETTERS[(all >> (18 - 6 * at) & 63) as usize] as char;
            text.push(if at <= chunk.len() { letter } else { '=' });
        }
    }
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let lines = lines.join("\n");
    let pem = format!("-----BEGIN {name}-----\n{lines}\n-----END {name}-----\n");
    std::fs::write(path, pem).unwrap();
}
