//! Discovery and OpenAPI documents: media types, entity tags, addresses with a hash.

use http_body_util::{BodyExt as _, Full};

use super::Fixture;

const MESSAGE: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Status, headers and bytes.
async fn fetch(fixture: &Fixture, uri: &str, headers: &[(&str, &str)]) -> (u16, http::HeaderMap, bytes::Bytes) {
    let mut request = http::Request::get(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = fixture.raw(request.body(Full::default()).unwrap()).await;
    let (parts, body) = response.into_parts();
    (parts.status.as_u16(), parts.headers, body.collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn openapi_v2_is_there_in_both_forms() {
    let fixture = Fixture::new().await;
    let old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    for (accept, media, first) in [
        ("*/*", "application/json", b'{'),
        ("application/json", "application/json", b'{'),
        (old, MESSAGE, 10),
        (MESSAGE, MESSAGE, 10),
        ("application/json;q=0.1, application/com.github.proto-openapi.spec.v2@v1.0+protobuf", MESSAGE, 10),
    ] {
        let (code, headers, bytes) = fetch(&fixture, "/openapi/v2", &[("accept", accept)]).await;
        assert_eq!((code, &headers["content-type"], bytes[0]), (200, &media.parse().unwrap(), first), "{accept}");
        let tag = headers["etag"].to_str().unwrap();
        let again = fetch(&fixture, "/openapi/v2", &[("accept", accept), ("if-none-match", tag)]).await;
        assert_eq!((again.0, again.2.len()), (304, 0), "{accept}");
        assert_eq!(again.1["vary"], "Accept");
    }
    assert_eq!(fetch(&fixture, "/openapi/v2", &[("accept", "text/html")]).await.0, 406);
}

#[tokio::test]
async fn documents_of_v3_are_kept_by_their_hash() {
    let fixture = Fixture::new().await;
    let index = fixture.get("/openapi/v3").await.expect(200);
    let address = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().unwrap().to_owned();
    let (code, headers, _) = fetch(&fixture, &address, &[]).await;
    assert_eq!((code, &headers["cache-control"]), (200, &"public, immutable".parse().unwrap()));
    assert!(headers["expires"].to_str().unwrap().ends_with(" GMT"));
    let tag = headers["etag"].to_str().unwrap();
    assert!(address.ends_with(tag.trim_matches('"')), "the hash is the tag");
    assert_eq!(fetch(&fixture, &address, &[("if-none-match", tag)]).await.0, 304);
    let (code, headers, _) = fetch(&fixture, "/openapi/v3/apis/apps/v1?hash=0", &[]).await;
    assert_eq!((code, headers["location"].to_str().unwrap()), (301, &*address));
    let (code, headers, _) = fetch(&fixture, "/openapi/v3/apis/apps/v1", &[]).await;
    assert!(code == 200 && headers["cache-control"] != "public, immutable");
    assert_eq!(fetch(&fixture, "/openapi/v3/apis/apps/v9", &[]).await.0, 404);
    assert_eq!(fetch(&fixture, &address, &[("accept", "text/html")]).await.0, 406);
}

#[tokio::test]
async fn discovery_has_tags_for_each_form() {
    let fixture = Fixture::new().await;
    let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let mut tags = Vec::new();
    for (accept, media) in [
        (aggregated, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
        ("application/json", "application/json"),
    ] {
        let (code, headers, _) = fetch(&fixture, "/apis", &[("accept", accept)]).await;
        assert_eq!(
            (code, &headers["content-type"], &headers["vary"]),
            (200, &media.parse().unwrap(), &"Accept".parse().unwrap())
        );
        let tag = headers["etag"].to_str().unwrap().to_owned();
        let none = format!("\"x\", {tag}");
        assert_eq!(fetch(&fixture, "/apis", &[("accept", accept), ("if-none-match", &none)]).await.0, 304);
        tags.push(tag);
    }
    assert_ne!(tags[0], tags[1]);
}
