use wordcount::rotate;

#[test]
fn small_letters() {
    assert_eq!(rotate("abc", 1), "bcd");
}

#[test]
fn wraps() {
    assert_eq!(rotate("xyz", 3), "abc");
}

#[test]
fn keeps_others() {
    assert_eq!(rotate("Hello, World!", 13), "Uryyb, Jbeyq!");
}
