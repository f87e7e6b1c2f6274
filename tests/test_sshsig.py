"""SSHSIG: what one key signed, in the one form that ssh-keygen writes."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_ledger import Curve, CurveToken, Person, Token, sign_with_ssh_keygen, signed, ssh_keygen

from githarness.govern import keys, sshsig
from githarness.govern.sshwire import number, string
from githarness.govern.void import VoidError

MESSAGE = b"object 1\n\nwords\n"
ADA = Person("ada")
ORDER = 2**252 + 27742317777372353535851937790883648493
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
EVERYBODY = [ADA, Curve("ben"), Token("eva"), CurveToken("kim")]


def refused(armor, message=MESSAGE):
    with pytest.raises(VoidError) as caught:
        sshsig.verify(armor, message)
    return caught.value.reason


def allowed_signers(folder, person):
    file = folder / f"{person.name}.signers"
    file.write_text(f"{person.name} {person.key}\n")
    return file


def ed25519_key(y, sign=0):
    point = (y | sign << 255).to_bytes(32, "little")
    return keys.read(string(b"ssh-ed25519") + string(point))


def numbers_of(curve):
    """The two numbers of one of its signatures, as SSH encodes them."""
    data = curve.numbers(sshsig.signed_bytes(MESSAGE, b"sha512"))
    first = data[4 : 4 + data[3]]
    return first, data[8 + len(first) :]


def p256_proof(*numbers):
    return string(b"ecdsa-sha2-nistp256") + string(b"".join(string(one) for one in numbers))


@pytest.mark.parametrize("person", EVERYBODY, ids=lambda one: type(one).__name__)
def test_each_of_the_four_key_types_verifies(person):
    assert sshsig.verify(person.sign(MESSAGE), MESSAGE).fingerprint == person.fingerprint


@pytest.mark.parametrize("person", EVERYBODY, ids=lambda one: type(one).__name__)
def test_ssh_keygen_accepts_what_is_accepted_here(person, tmp_path):
    (tmp_path / "sig").write_bytes(person.sign(MESSAGE))
    signers = allowed_signers(tmp_path, person)
    said = ssh_keygen(
        "-Y", "verify", "-n", "git", "-I", person.name, "-f", signers, "-s", tmp_path / "sig", data=MESSAGE
    )
    assert b"Good" in said


def test_ssh_keygen_signs_the_very_bytes_that_are_made_here(tmp_path):
    assert sign_with_ssh_keygen(ADA.private_file(tmp_path), MESSAGE) == ADA.sign(MESSAGE)


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_a_key_made_by_ssh_keygen_signs_and_verifies(kind, tmp_path):
    ssh_keygen("-q", "-t", kind, "-N", "", "-C", "a comment of three words", "-f", tmp_path / "key")
    armor = sign_with_ssh_keygen(tmp_path / "key", MESSAGE)
    key = keys.from_file((tmp_path / "key.pub").read_text())
    assert sshsig.verify(armor, MESSAGE) == key


def test_a_fingerprint_is_the_one_that_ssh_keygen_prints(tmp_path):
    (tmp_path / "key.pub").write_text(f"{ADA.key} somebody\n")
    assert ADA.fingerprint in ssh_keygen("-l", "-f", tmp_path / "key.pub").decode()


def test_a_key_and_its_fingerprint_are_pinned():
    assert ADA.fingerprint == "SHA256:oiX3Vd4vKKHlcln6IMetkjr1OFMlCax+i11AFpc7fEA"


@pytest.mark.parametrize("hash_name", [b"sha256", b"sha512"])
def test_both_hashes_of_ssh_verify(hash_name):
    assert sshsig.verify(signed(ADA, MESSAGE, hash_name=hash_name), MESSAGE)


def test_another_message_does_not_verify():
    assert "did not sign" in refused(ADA.sign(MESSAGE), MESSAGE + b"\n")


def test_the_signature_of_another_key_does_not_verify():
    assert "did not sign" in refused(ADA.sign(MESSAGE, proof=Person("ben").proof(MESSAGE)))


@pytest.mark.parametrize("namespace", [b"file", b"", b"git\0", b"GIT"])
def test_a_signature_for_another_namespace_is_refused(namespace):
    assert "not for git" in refused(signed(ADA, MESSAGE, namespace=namespace))


@pytest.mark.parametrize("version", [0, 2, 2**32 - 1])
def test_only_version_1_is_read(version):
    assert "version" in refused(signed(ADA, MESSAGE, version=version))


def test_a_filled_reserved_field_is_refused_as_nothing_signs_it():
    assert "reserved" in refused(signed(ADA, MESSAGE, reserved=b"x"))


@pytest.mark.parametrize("hash_name", [b"sha1", b"md5", b"", b"SHA512"])
def test_another_hash_is_refused(hash_name):
    assert "hashed with" in refused(signed(ADA, MESSAGE, hash_name=hash_name))


def test_bytes_after_the_last_field_are_refused():
    assert "follow" in refused(signed(ADA, MESSAGE, tail=b"\0"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda armor: armor + b"\n",
        lambda armor: armor + b"more\n",
        lambda armor: b"\n" + armor,
        lambda armor: armor * 2,
        lambda armor: armor.replace(b"\n", b"\r\n"),
        lambda armor: armor.replace(b"\n", b" \n", 2),
        lambda armor: armor.rstrip(b"\n"),
        lambda armor: armor.replace(b"SSH", b"PGP"),
        lambda armor: b"",
    ],
)
def test_an_armor_in_any_other_form_is_refused(spoil):
    assert "one SSH signature" in refused(spoil(ADA.sign(MESSAGE)))


def test_lines_of_another_length_are_refused():
    text = base64.b64encode(sshsig.unarmor(ADA.sign(MESSAGE)))
    lines = b"".join(text[at : at + 64] + b"\n" for at in range(0, len(text), 64))
    assert refused(sshsig.BEGIN + lines + sshsig.END)


def test_base64_with_spare_bits_set_is_refused():
    armor = next(one for tail in (b"x", b"xx") if b"=" in (one := signed(ADA, MESSAGE, tail=tail)))
    at = armor.index(b"=")
    assert "one form" in refused(armor[: at - 1] + bytes([armor[at - 1] + 1]) + armor[at:])


def test_a_signature_whose_s_is_larger_than_the_order_is_refused():
    numbers = sshsig.read(ADA.sign(MESSAGE)).proof[-64:]
    larger = int.from_bytes(numbers[32:], "little") + ORDER
    proof = string(b"ssh-ed25519") + string(numbers[:32] + larger.to_bytes(32, "little"))
    assert "did not sign" in refused(ADA.sign(MESSAGE, proof=proof))


def test_the_twin_of_an_ecdsa_signature_verifies_so_nothing_is_named_by_it():
    ben = Curve("ben")
    r, s = numbers_of(ben)
    twin = number(P256_ORDER - int.from_bytes(s, "big"))
    assert sshsig.verify(ben.sign(MESSAGE, proof=p256_proof(r, twin)), MESSAGE)


@pytest.mark.parametrize("spoil", [lambda r: b"\0\0" + r, lambda r: b"", lambda r: b"\xff" + r])
def test_an_ecdsa_number_is_positive_and_has_one_form(spoil):
    ben = Curve("ben")
    r, s = numbers_of(ben)
    assert "one form" in refused(ben.sign(MESSAGE, proof=p256_proof(spoil(r), s)))


def test_a_signature_of_another_type_than_its_key_is_refused():
    assert "another type" in refused(ADA.sign(MESSAGE, proof=string(b"rsa-sha2-512") + string(b"x" * 64)))


@pytest.mark.parametrize("kind", [Token, CurveToken])
def test_a_security_key_that_nobody_touched_is_refused(kind):
    assert "touched" in refused(kind("eva", touched=False).sign(MESSAGE))


def test_the_counter_of_a_security_key_is_signed():
    eva = Token("eva")
    proof = sshsig.read(eva.sign(MESSAGE)).proof
    assert "did not sign" in refused(eva.sign(MESSAGE, proof=proof[:-1] + b"\x08"))


def test_a_key_that_a_token_made_for_a_web_site_is_refused():
    assert "something else" in refused(Token("eva", application=b"https://example.com").sign(MESSAGE))


@pytest.mark.parametrize(
    "kind", [b"ssh-rsa", b"ssh-dss", b"ssh-ed25519-cert-v01@openssh.com", b"ecdsa-sha2-nistp384", b"\xff"]
)
def test_a_key_of_another_type_is_refused(kind):
    with pytest.raises(VoidError, match="cannot sign"):
        keys.read(string(kind) + string(b"x" * 32))


@pytest.mark.parametrize("y", [0, 1, 2**255 - 20, keys._ORDER_EIGHT, 2**255 - 19 - keys._ORDER_EIGHT])
@pytest.mark.parametrize("sign", [0, 1])
def test_a_point_of_small_order_is_weak(y, sign):
    assert "small order" in keys.weakness(ed25519_key(y, sign))


def test_a_weak_key_verifies_what_nobody_signed_which_is_why_policies_refuse_it():
    nobody = Person("nobody")
    nobody.blob = ed25519_key(1).blob
    nobody.proof = lambda data: string(b"ssh-ed25519") + string(b"\1" + bytes(63))
    assert sshsig.verify(nobody.sign(MESSAGE), MESSAGE)


@pytest.mark.parametrize("y", [2**255 - 19, 2**255 - 18, 2**255 - 1])
def test_a_point_that_is_not_in_canonical_form_is_weak(y):
    assert "canonical" in keys.weakness(ed25519_key(y))


def test_what_is_no_point_of_the_curve_is_weak():
    assert "no point" in keys.weakness(ed25519_key(2))


def test_what_is_no_point_of_p256_is_weak():
    blob = string(b"ecdsa-sha2-nistp256") + string(b"nistp256") + string(b"\4" + b"\1" * 64)
    assert "no point" in keys.weakness(keys.read(blob))


@pytest.mark.parametrize("person", EVERYBODY, ids=lambda one: type(one).__name__)
def test_an_honest_key_is_not_weak(person):
    assert keys.weakness(keys.read(person.blob)) is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda key: key + " comment",
        lambda key: key + "\n",
        lambda key: key.replace(" ", "  "),
        lambda key: key + "=",
        lambda key: key[:-4],
        lambda key: key.replace("ssh-ed25519", "ecdsa-sha2-nistp256"),
        lambda key: "",
    ],
)
def test_a_key_has_one_spelling(spoil):
    with pytest.raises(VoidError):
        keys.parse(spoil(ADA.key))


def test_a_compressed_point_is_no_second_spelling_of_a_key():
    blob = string(b"ecdsa-sha2-nistp256") + string(b"nistp256") + string(b"\2" + Curve("ben").point[1:33])
    with pytest.raises(VoidError, match="length"):
        keys.read(blob)


@given(st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_bytes_in_an_armor_make_the_reader_fail_in_another_way(data):
    with pytest.raises(VoidError):
        sshsig.verify(sshsig.enarmor(data), MESSAGE)


@given(st.integers(min_value=0, max_value=8 * len(ADA.sign(MESSAGE)) - 1))
@settings(max_examples=150, deadline=None)
def test_no_flipped_bit_of_a_signature_verifies(bit):
    armor = bytearray(ADA.sign(MESSAGE))
    armor[bit // 8] ^= 1 << bit % 8
    refused(bytes(armor))
